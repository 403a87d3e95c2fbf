use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "charge", once, retry(max_attempts = 3), async { Ok(()) }).await?;
    Ok(())
}

fn main() {}
