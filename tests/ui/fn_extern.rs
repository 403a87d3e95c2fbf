use jobs::prelude::*;

#[job(tenant = none)]
async extern "C" fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
