use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step_tx!(ctx, "book", once, async |_tx| { Ok(()) }).await?;
    Ok(())
}

fn main() {}
