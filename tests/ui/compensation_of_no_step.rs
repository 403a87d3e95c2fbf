use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "hold stock", async { Ok(()) }).await?;
    step!(ctx, "charge", async { Ok(()) }).await?;
    compensate!(ctx, "hold stok", [], async move |_| Ok(()));
    Ok(())
}

fn main() {}
