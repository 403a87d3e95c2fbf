use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "outer", async {
        sleep!(ctx, "inner", "1s").await;
        Ok(())
    })
    .await?;
    Ok(())
}

fn main() {}
