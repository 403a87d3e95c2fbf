use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step_tx!(ctx, "book", async { Ok(()) }).await?;
    step_tx!(ctx, "pay", |tx| Ok(())).await?;
    step_tx!(ctx, "ship", async || Ok(())).await?;
    Ok(())
}

fn main() {}
