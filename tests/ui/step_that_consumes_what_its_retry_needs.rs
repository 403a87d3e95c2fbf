use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    let text = String::new();
    let _: String = step!(ctx, "hold", retry(max_attempts = 3), async { Ok(text) }).await?;
    Ok(())
}

fn main() {}
