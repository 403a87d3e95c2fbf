use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    race!(ctx, "first", () = sleep!(ctx, "nap", "1h") => ()).await?;
    Ok(())
}

fn main() {}
