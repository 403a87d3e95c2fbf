use jobs::prelude::*;

#[job(tenant = none, retry(backoff = linear("1s", "5m")))]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
