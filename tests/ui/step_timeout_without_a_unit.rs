use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "charge", timeout = "10", async { Ok(()) }).await?;
    step!(ctx, "hold", retry(max_attempts = 0, backoff = exponential("1x")), async { Ok(()) }).await?;
    Ok(())
}

fn main() {}
