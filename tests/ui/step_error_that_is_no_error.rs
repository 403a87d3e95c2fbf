use jobs::prelude::*;

struct Full;

async fn hold() -> Result<(), Full> {
    Err(Full)
}

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "hold", hold()).await?;
    Ok(())
}

fn main() {}
