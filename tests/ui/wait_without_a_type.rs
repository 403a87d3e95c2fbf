use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    wait_for!(ctx, "shipped", key = 1).await?;
    Ok(())
}

fn main() {}
