use jobs::prelude::*;

#[job(tenant = none, unique(while = live, for = "1h"))]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
