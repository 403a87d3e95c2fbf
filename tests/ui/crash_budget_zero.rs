use jobs::prelude::*;

#[job(tenant = none, crash_budget = 0)]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
