use jobs::prelude::*;

#[derive(Serialize, Deserialize)]
struct Email {
    to: String,
}

#[job(tenant = none, unique(by = [to], key = input.to))]
async fn send(_ctx: &Ctx, _input: Email) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
