#![deny(unused_must_use)]

use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "hold", async { Ok(()) }).await;
    Ok(())
}

fn main() {}
