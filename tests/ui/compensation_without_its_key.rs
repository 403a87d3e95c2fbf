use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "hold", key = 1, async { Ok(()) }).await?;
    compensate!(ctx, "hold", [], async move |_| { Ok(()) });
    step!(ctx, "charge", async { Ok(()) }).await?;
    compensate!(ctx, "charge", key = 1, [], async move |_| { Ok(()) });
    Ok(())
}

fn main() {}
