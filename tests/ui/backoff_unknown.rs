use jobs::prelude::*;

#[job(tenant = none, retry(backoff = quadratic("1s")))]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
