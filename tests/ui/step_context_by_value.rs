use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    let own = ctx.clone();
    step!(own, "hold", async { Ok(()) }).await?;
    Ok(())
}

fn main() {}
