use jobs::prelude::*;

#[job(tenant = none, aliases = ["old.name", "older name"])]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
