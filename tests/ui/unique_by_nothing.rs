use jobs::prelude::*;

#[job(tenant = none, unique(by = []))]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
