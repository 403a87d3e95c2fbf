use jobs::prelude::*;

#[derive(Serialize, Deserialize)]
struct Email {
    to: String,
}

#[job(tenant = none, unique(by = [from]))]
async fn send(_ctx: &Ctx, _input: Email) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
