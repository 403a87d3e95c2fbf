use jobs::prelude::*;

#[job(tenant = none, retry(jitter = full))]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
