use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "hold", async { let _ = 5; }).await?;
    Ok(())
}

fn main() {}
