use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    spawn!(ctx, "child", String, ()).await?;
    Ok(())
}

fn main() {}
