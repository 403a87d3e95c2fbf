use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "charge", once, timeout = "1s", once, async { Ok(()) }).await?;
    Ok(())
}

fn main() {}
