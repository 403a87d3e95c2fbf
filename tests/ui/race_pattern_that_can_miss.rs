use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    race!(ctx, "first",
        Ok(()) = step!(ctx, "hold", async { Ok(()) }) => (),
        () = sleep!(ctx, "rest", "2h") => (),
    )
    .await?;
    Ok(())
}

fn main() {}
