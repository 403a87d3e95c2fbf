use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "hold", async { Ok(()) }).await?;
    let text = String::new();
    let part = text.as_str();
    compensate!(ctx, "hold", [part], async move |_| {
        drop(part);
        Ok(())
    });
    Ok(())
}

fn main() {}
