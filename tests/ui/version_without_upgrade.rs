use jobs::prelude::*;

#[job(tenant = none, version = 2)]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
