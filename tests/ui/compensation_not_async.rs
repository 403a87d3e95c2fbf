use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "hold", async { Ok(()) }).await?;
    compensate!(ctx, "hold", [], |_ctx| { Ok(()) });
    Ok(())
}

fn main() {}
