use jobs::prelude::*;

struct Hold;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "hold", async { Ok(()) }).await?;
    let hold = Hold;
    compensate!(ctx, "hold", [hold], async move |_| {
        drop(hold);
        Ok(())
    });
    Ok(())
}

fn main() {}
