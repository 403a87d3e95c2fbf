use jobs::prelude::*;

struct Hold;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    let _hold: Hold = step!(ctx, "hold", async { Ok(Hold) }).await?;
    Ok(())
}

fn main() {}
