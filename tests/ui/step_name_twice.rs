use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "charge", async { Ok(()) }).await?;
    if true {
        step!(ctx, "charge", async { Ok(()) }).await?;
    }
    Ok(())
}

fn main() {}
