use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    race!(ctx, "first",
        () = sleep!(ctx, "nap", "1h") => Err(std::fmt::Error)?,
        () = sleep!(ctx, "rest", "2h") => (),
    )
    .await?;
    Ok(())
}

fn main() {}
