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
    step!(ctx, "charge", async {});
    if true {
        step!(ctx, "charge", async {});
    }
    Ok(())
}

fn main() {}
