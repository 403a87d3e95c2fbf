use jobs::prelude::*;

#[job(tenant = none)]
async fn send(_ctx: &mut Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
