use jobs::prelude::*;

#[job(tenant = none)]
async fn send() -> Result<(), Failure> {
    Ok(())
}

fn main() {}
