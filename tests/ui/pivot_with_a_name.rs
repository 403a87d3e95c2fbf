use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    pivot!(ctx, "pay").await?;
    Ok(())
}

fn main() {}
