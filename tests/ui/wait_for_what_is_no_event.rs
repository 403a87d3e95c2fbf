use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    let _: u32 = wait_for!(ctx, "shipped", key = 1).await?;
    Ok(())
}

fn main() {}
