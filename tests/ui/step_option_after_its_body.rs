use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "charge", async { Ok(()) }, once).await?;
    Ok(())
}

fn main() {}
