use jobs::prelude::*;

const NAME: &str = "charge";

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, NAME, async { Ok(()) }).await?;
    Ok(())
}

fn main() {}
