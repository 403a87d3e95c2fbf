use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "hold", async { Ok(()) }).await?;
    let pair = (1, 2);
    compensate!(ctx, "hold", [pair.0], async move |_| { Ok(()) });
    Ok(())
}

fn main() {}
