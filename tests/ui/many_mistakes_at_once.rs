use jobs::prelude::*;

#[derive(Serialize, Deserialize)]
struct Email {
    to: String,
}

#[job(
    name = "Send",
    quue = "mail",
    timeout = "30",
    retry(max_attempts = 0, backoff = exponential("1x", max = "5m")),
    keep = forever
)]
async fn send(_ctx: &Ctx, input: Email) -> Result<(), Failure> {
    drop(input);
    Ok(())
}

#[job(tenant = input.to, timeout = "30", colour = 1)]
fn both(input: Email, _ctx: &Ctx) {
    drop(input);
}

fn main() {}
