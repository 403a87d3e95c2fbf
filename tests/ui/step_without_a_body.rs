use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "charge").await?;
    step!(ctx, "hold", once).await?;
    step!(ctx).await?;
    step!().await?;
    Ok(())
}

fn main() {}
