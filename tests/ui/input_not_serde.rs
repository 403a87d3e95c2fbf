use jobs::prelude::*;

struct Email;

#[job(tenant = none)]
async fn send(_ctx: &Ctx, _input: Email) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
