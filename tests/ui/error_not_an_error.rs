use jobs::prelude::*;

#[derive(Debug)]
struct NotSent;

#[job(tenant = none)]
async fn send(_ctx: &Ctx) -> Result<(), NotSent> {
    Err(NotSent)
}

fn main() {}
