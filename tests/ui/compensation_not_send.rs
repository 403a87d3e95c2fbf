use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "hold", async { Ok(()) }).await?;
    compensate!(ctx, "hold", [], async move |_| {
        let shared = std::rc::Rc::new(5);
        tokio::task::yield_now().await;
        drop(shared);
        Ok(())
    });
    Ok(())
}

fn main() {}
