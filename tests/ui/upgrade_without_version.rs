use jobs::prelude::*;

#[job(tenant = none, upgrade = older)]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
