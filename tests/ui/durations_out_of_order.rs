use jobs::prelude::*;

#[job(tenant = none, timeout = "1m1h")]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
