use jobs::prelude::*;

#[job(tenant = none)]
async fn send(_ctx: &Ctx, _to: String, _text: String) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
