use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    sleep_until!(ctx, "nap", "1h").await;
    Ok(())
}

fn main() {}
