use jobs::prelude::*;

#[derive(Serialize, Deserialize)]
struct Email {
    to: String,
}

#[job(tenant = none, unique(by = [input.to.len()]))]
async fn send(_ctx: &Ctx, _input: Email) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
