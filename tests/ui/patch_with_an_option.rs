use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    patch!(ctx, "change", once).await?;
    Ok(())
}

fn main() {}
