use jobs::prelude::*;

#[job(tenant = none, retry(backoff = fixed("1s", max = "5m")))]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
