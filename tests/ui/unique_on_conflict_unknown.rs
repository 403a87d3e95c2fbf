use jobs::prelude::*;

#[job(tenant = none, unique(on_conflict = replace))]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
