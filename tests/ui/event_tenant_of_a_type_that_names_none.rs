use jobs::prelude::*;

#[derive(Serialize, Deserialize)]
#[event(name = "shipped", tenant = self.0)]
struct Shipped(f64);

fn main() {}
