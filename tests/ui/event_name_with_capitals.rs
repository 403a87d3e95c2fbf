use jobs::prelude::*;

#[derive(Serialize, Deserialize)]
#[event(name = "OrderShipped")]
struct Shipped;

fn main() {}
