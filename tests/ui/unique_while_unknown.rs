use jobs::prelude::*;

#[job(tenant = none, unique(while = running))]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
