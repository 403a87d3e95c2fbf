use jobs::prelude::*;

#[job(tenant = none, retry(max_attempts = 0))]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
