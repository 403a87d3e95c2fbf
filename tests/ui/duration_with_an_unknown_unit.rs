use jobs::prelude::*;

#[job(tenant = none, keep = "2w")]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
