use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    sleep!(ctx, "nap", "1 hour").await;
    Ok(())
}

fn main() {}
