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
    step!(ctx, "hold stock", async {});
    step!(ctx, "charge", async {});
    compensate!(ctx, "hold stok", [hold], async move |ctx| {});
    Ok(())
}

fn main() {}
