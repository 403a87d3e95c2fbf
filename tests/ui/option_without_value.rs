use jobs::prelude::*;

#[job(tenant = none, queue = )]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
