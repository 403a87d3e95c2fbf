use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx, parts: Vec<u32>) -> Result<(), Failure> {
    for part in parts {
        step!(ctx, "send", async { Ok(part) }).await?;
    }
    Ok(())
}

fn main() {}
