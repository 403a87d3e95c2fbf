use jobs::prelude::*;

#[event(name = "shipped")]
fn shipped() {}

fn main() {}
