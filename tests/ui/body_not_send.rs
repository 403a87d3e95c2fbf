use jobs::prelude::*;
use std::rc::Rc;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    let shared = Rc::new(1);
    ctx.cancelled().await;
    drop(shared);
    Ok(())
}

fn main() {}
