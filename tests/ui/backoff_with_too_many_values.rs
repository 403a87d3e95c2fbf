use jobs::prelude::*;

#[job(tenant = none, retry(backoff = linear("1s", max = "5m", "1h")))]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
