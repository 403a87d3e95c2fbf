use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "hold", async { Ok(()) }).await?;
    compensate!(ctx, "hold", [], async move || { Ok(()) });
    compensate!(ctx, "hold", [], async move |_, done| { Ok(()) });
    Ok(())
}

fn main() {}
