use jobs::prelude::*;

#[job(
    tenant = none,
    name = SEND,
    aliases = "old",
    unique = true,
    retry = 5,
    timeout("2m"),
    needs = Bank,
    then = "other",
    schema = true,
    handle = "Send",
    allow(everything)
)]
async fn send(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
