use jobs::prelude::*;

#[derive(Serialize, Deserialize)]
struct Email {
    to: String,
}

#[job(tenant = none, then = tell)]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

#[job(tenant = none)]
async fn tell(_ctx: &Ctx, _input: Email) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
