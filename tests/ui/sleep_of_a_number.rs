use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    sleep!(ctx, "nap", 5).await;
    Ok(())
}

fn main() {}
