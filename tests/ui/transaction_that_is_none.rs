use jobs::prelude::*;

#[job(tenant = none)]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

async fn enqueue(jobs: &Jobs, mut pool: sqlx::PgPool) {
    let _ = send::enqueue(jobs, ()).in_tx(&mut pool).await;
}

fn main() {}
