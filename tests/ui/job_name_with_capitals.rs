use jobs::prelude::*;

#[job(tenant = none, name = "Mail.Send")]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
