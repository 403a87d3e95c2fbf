use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "charge", onec, timout = "1s", attempts(3), async { Ok(()) }).await?;
    Ok(())
}

fn main() {}
