use jobs::prelude::*;

#[derive(Serialize, Deserialize)]
#[event(name = "shipped")]
struct Shipped;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    let _: Shipped = wait_for!(ctx, "shipped", timeout = "3d").await?;
    Ok(())
}

fn main() {}
