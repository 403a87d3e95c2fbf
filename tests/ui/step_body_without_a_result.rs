use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    let _hold: u32 = step!(ctx, "hold", async { 5 }).await?;
    Ok(())
}

fn main() {}
