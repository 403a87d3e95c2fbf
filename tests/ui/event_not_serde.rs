use jobs::prelude::*;

#[event(name = "order.shipped", tenant = self.org)]
struct Shipped {
    org: String,
}

fn main() {}
