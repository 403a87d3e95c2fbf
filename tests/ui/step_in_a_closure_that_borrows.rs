use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    let steps = ["a", "b"].map(|item| step!(ctx, "each", key = item, async { Ok(item.len()) }));
    for step in steps {
        step.await?;
    }
    Ok(())
}

fn main() {}
