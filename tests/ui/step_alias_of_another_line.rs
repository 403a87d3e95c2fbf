use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "charge", async { Ok(()) }).await?;
    step!(ctx, "mail", aliases = ["charge"], async { Ok(()) }).await?;
    Ok(())
}

fn main() {}
