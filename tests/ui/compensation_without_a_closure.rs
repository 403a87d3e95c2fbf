use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "hold", async { Ok(()) }).await?;
    compensate!(ctx, "hold", []);
    compensate!(ctx, "hold", [], async { Ok(()) });
    Ok(())
}

fn main() {}
