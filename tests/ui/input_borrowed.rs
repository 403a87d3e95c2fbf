use jobs::prelude::*;

#[job(tenant = none)]
async fn send(_ctx: &Ctx, _to: &str) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
