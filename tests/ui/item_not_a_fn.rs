use jobs::prelude::*;

#[job(tenant = none)]
struct Send;

fn main() {}
