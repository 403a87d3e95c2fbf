use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    spawn!(ctx, "child", send, 5).await?;
    Ok(())
}

fn main() {}
