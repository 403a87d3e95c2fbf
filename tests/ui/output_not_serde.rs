use jobs::prelude::*;

struct Receipt;

#[job(tenant = none)]
async fn send(_ctx: &Ctx) -> Result<Receipt, Failure> {
    Ok(Receipt)
}

fn main() {}
