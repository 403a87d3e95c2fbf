use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "a\0b", async { Ok(()) }).await?;
    Ok(())
}

fn main() {}
