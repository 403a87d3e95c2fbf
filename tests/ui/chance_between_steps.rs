#![deny(deprecated)]

use jobs::prelude::*;
use std::time::SystemTime;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    let _now = std::time::SystemTime::now();
    step!(ctx, "charge", async { Ok(SystemTime::now().elapsed().is_ok()) }).await?;
    tokio::select! {
        () = sleep!(ctx, "nap", "1h") => {}
        () = sleep!(ctx, "rest", "2h") => {}
    }
    Ok(())
}

/// Without steps nothing is replayed.
#[job(tenant = none)]
async fn without_steps(_ctx: &Ctx) -> Result<(), Failure> {
    let _now = std::time::SystemTime::now();
    Ok(())
}

#[job(tenant = none, allow(nondeterminism))]
async fn allowed(ctx: &Ctx) -> Result<(), Failure> {
    let _now = std::time::SystemTime::now();
    step!(ctx, "charge", async { Ok(()) }).await?;
    Ok(())
}

fn main() {}
