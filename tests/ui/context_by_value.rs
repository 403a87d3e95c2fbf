use jobs::prelude::*;

#[job(tenant = none)]
async fn send(_ctx: Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
