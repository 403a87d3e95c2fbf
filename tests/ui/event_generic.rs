use jobs::prelude::*;

#[derive(Serialize, Deserialize)]
#[event(name = "shipped")]
struct Shipped<T>(T);

fn main() {}
