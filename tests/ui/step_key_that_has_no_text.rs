use jobs::prelude::*;

struct Key;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "hold", key = Key, async { Ok(()) }).await?;
    Ok(())
}

fn main() {}
