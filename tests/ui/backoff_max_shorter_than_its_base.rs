use jobs::prelude::*;

#[job(tenant = none, retry(backoff = exponential("10m", max = "5m")))]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
