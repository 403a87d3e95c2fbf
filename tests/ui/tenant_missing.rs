use jobs::prelude::*;

#[job(queue = "mail")]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
