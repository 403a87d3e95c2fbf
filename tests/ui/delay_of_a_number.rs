use jobs::prelude::*;

#[job(tenant = none)]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

async fn enqueue(jobs: &Jobs) {
    let _ = send::enqueue(jobs, ()).delay(5).await;
}

fn main() {}
