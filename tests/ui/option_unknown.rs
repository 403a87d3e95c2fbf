use jobs::prelude::*;

#[job(tenant = none, quue = "mail")]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
