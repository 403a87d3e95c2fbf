use jobs::prelude::*;

#[job(tenant = none)]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    step!("charge", async { Ok(()) }).await?;
    Ok(())
}

fn main() {}
