use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    sleep!(ctx, "nap").await;
    Ok(())
}

fn main() {}
