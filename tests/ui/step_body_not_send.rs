use jobs::prelude::*;

#[job(tenant = none)]
async fn send(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "hold", async {
        let shared = std::rc::Rc::new(5);
        tokio::task::yield_now().await;
        drop(shared);
        Ok(())
    })
    .await?;
    Ok(())
}

fn main() {}
