use jobs::prelude::*;

#[job(tenant = none, version = 0, upgrade = older)]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn older(_from: u16, input: jobs::serde_json::Value) -> Result<jobs::serde_json::Value, Failure> {
    Ok(input)
}

fn main() {}
