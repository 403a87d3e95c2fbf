use jobs::prelude::*;

#[job(tenant = none, expires_after = "0s")]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
