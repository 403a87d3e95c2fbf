use jobs::prelude::*;

#[job(tenant = none)]
async fn send<'a>(_ctx: &'a Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
