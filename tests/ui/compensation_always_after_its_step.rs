use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "hold", async { Ok(()) }).await?;
    compensate!(ctx, "hold", always, [], async move |_, _: Option<()>| { Ok(()) });
    Ok(())
}

fn main() {}
