use jobs::prelude::*;

#[derive(Serialize, Deserialize)]
#[event(tenant = none)]
struct Shipped;

fn main() {}
