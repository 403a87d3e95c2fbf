use jobs::prelude::*;

#[job(tenant = none)]
async unsafe fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
