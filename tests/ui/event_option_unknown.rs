use jobs::prelude::*;

#[derive(Serialize, Deserialize)]
#[event(name = "shipped", tenent = none, ttl)]
struct Shipped;

fn main() {}
