#![deny(deprecated)]

use jobs::prelude::*;

#[allow(unused_macros)]
macro_rules! step {
    ($($tokens:tt)*) => {};
}

#[allow(unused_macros)]
macro_rules! compensate {
    ($($tokens:tt)*) => {};
}

#[job(tenant = none)]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    let _now = std::time::SystemTime::now();
    step!(ctx, "charge", async { std::time::SystemTime::now() });
    Ok(())
}

/// Without steps nothing is replayed.
#[job(tenant = none)]
async fn without_steps(_ctx: &Ctx) -> Result<(), Failure> {
    let _now = std::time::SystemTime::now();
    Ok(())
}

#[job(tenant = none, allow(nondeterminism))]
async fn allowed(_ctx: &Ctx) -> Result<(), Failure> {
    let _now = std::time::SystemTime::now();
    step!(ctx, "charge", async {});
    Ok(())
}

fn main() {}
