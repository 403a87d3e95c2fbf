use jobs::prelude::*;

#[job(tenant = none)]
#[allow(non_snake_case)]
async fn sendEmail(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
