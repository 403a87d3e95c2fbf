use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, " ", async { Ok(()) }).await?;
    Ok(())
}

fn main() {}
