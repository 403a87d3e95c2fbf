use jobs::prelude::*;

#[job(tenant = none, timeout = "30")]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
