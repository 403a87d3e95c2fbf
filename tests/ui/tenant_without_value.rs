use jobs::prelude::*;

#[job(tenant)]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
