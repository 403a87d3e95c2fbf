use jobs::prelude::*;

async fn release() -> Result<u32, std::io::Error> {
    Ok(5)
}

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "hold", async { Ok(()) }).await?;
    compensate!(ctx, "hold", [], async move |_| release().await);
    Ok(())
}

fn main() {}
