use jobs::prelude::*;

use jobs::Payload;

#[job(tenant = none)]
async fn send<T: Payload>(_ctx: &Ctx, _input: T) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
