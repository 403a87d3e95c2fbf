use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    spawn!(ctx, "child", send).await?;
    Ok(())
}

fn main() {}
