use jobs::prelude::*;

#[job(tenant = none)]
fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
