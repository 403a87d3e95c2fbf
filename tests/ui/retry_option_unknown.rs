use jobs::prelude::*;

#[job(tenant = none, retry(max = 5))]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
