use jobs::prelude::*;

#[derive(Serialize, Deserialize)]
#[event(name = "shipped", ttl = "7")]
struct Shipped;

fn main() {}
