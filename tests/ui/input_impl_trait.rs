use jobs::prelude::*;

#[job(tenant = none)]
async fn send(_ctx: &Ctx, _to: impl Into<String>) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
