//! The macros of a body in every place where a body may have them. That it compiles is the test.
#![allow(dead_code, reason = "never run")]

use jobs::{StepError, prelude::*};
use std::{fmt, io, time::Duration};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Order {
    id: u64,
    items: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Hold(u64);

#[derive(Debug, thiserror::Error)]
#[error("the bank is closed")]
struct Closed;

/// An error by which a job takes over those of its steps.
#[derive(Debug, thiserror::Error)]
enum OrderError {
    #[error(transparent)]
    Step(#[from] StepError),
    #[error("nothing to order")]
    Empty,
}

struct Bank;

impl Bank {
    async fn charge(&self, cents: u64) -> Result<u64, Closed> {
        if cents == 0 { Err(Closed) } else { Ok(cents) }
    }

    async fn hold(&self, order: Order) -> Result<Hold, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Hold(order.id))
    }

    async fn release(&self, _: Hold) -> Result<(), io::Error> {
        Ok(())
    }
}

fn bank(ctx: &Ctx) -> Result<&Bank, jobs::Error> {
    ctx.state()
}

/// Every form of the end of a body.
#[job(tenant = none)]
async fn ends(ctx: &Ctx, input: Order) -> Result<u64, OrderError> {
    let a: u64 = step!(ctx, "call", async { bank(ctx)?.charge(5).await }).await?;
    let b: Hold = step!(ctx, "boxed error", bank(ctx).map_err(not_there)?.hold(input.clone())).await?;
    let c = step!(ctx, "ok", async { Ok(5) }).await?;
    let d: u64 = step!(ctx, "err", async { Err(Closed) }).await.unwrap_or_default();
    let e: u64 = step!(ctx, "into", async { Err(Closed.into()) }).await.unwrap_or_default();
    step!(ctx, "unit", async {
        bank(ctx)?.release(Hold(1)).await?;
        Ok(())
    })
    .await?;
    let f: u64 = step!(ctx, "branches", async {
        if a == 0 {
            bank(ctx)?.charge(1).await
        } else if a == 1 {
            Ok(7)
        } else {
            match b.0 {
                0 => Err(Closed),
                1 => Err(Failure::terminal("one")),
                2 => unreachable!(),
                3 if f64::from(3_u8) > 2.5 => {
                    if a == 3 {
                        return Ok(3);
                    }
                    Ok(4)
                }
                4 => {
                    let charged = bank(ctx)?.charge(1).await;
                    charged
                }
                _ => Ok(2),
            }
        }
    })
    .await?;
    let g: u64 = step!(ctx, "loop", async {
        loop {
            if let Ok(done) = bank(ctx)?.charge(1).await {
                break Ok(done);
            }
        }
    })
    .await?;
    let h: u64 = step!(ctx, "failure", async { Err(Failure::terminal("no")) }).await?;
    if input.items.is_empty() {
        return Err(OrderError::Empty);
    }
    Ok(a + c + d + e + f + g + h)
}

fn not_there(error: jobs::Error) -> StepError {
    StepError::new("call", error.into())
}

/// What is named by value, by reference, in loops, side by side and in closures.
#[job(tenant = none, retry(max_attempts = 2))]
async fn places(job: &Ctx, input: Order) -> Result<(), Failure> {
    let owned = String::from("text");
    let borrowed = String::from("text");
    let (left, right) =
        tokio::join!(step!(job, "left", async { Ok(borrowed.len()) }), step!(job, "right", async { Ok(owned) }),);
    let _: (usize, String) = (left?, right?);
    for item in &input.items {
        let held: Hold = step!(job, "item", key = item, timeout = "1s", async { Ok(Hold(item.len() as u64)) }).await?;
        compensate!(job, "item", key = item, [held], async move |ctx| { bank(ctx)?.release(held).await });
    }
    let many = input.items.iter().map(|item| {
        let len = item.len();
        step!(job, "each", key = item, once, async move { Ok(len) })
    });
    let _: Vec<Result<usize, StepError>> = futures_util::future::join_all(many).await;
    let moved = vec![1_u8];
    let _: usize = step!(job, "again", retry(max_attempts = 3, backoff = fixed("1s")), async {
        let moved = moved.clone();
        Ok(moved.len())
    })
    .await?;
    hold(job, &input).await?;
    generic(job, Hold(1)).await?;
    waits(job, &input).await?;
    Ok(())
}

async fn hold(ctx: &Ctx, order: &Order) -> Result<Hold, StepError> {
    let hold: Hold = step!(ctx, "hold in a fn", async { bank(ctx)?.hold(order.clone()).await }).await?;
    compensate!(
        ctx,
        "hold in a fn",
        always,
        timeout = "10s",
        retry(max_attempts = 9),
        [],
        async move |ctx, done: Option<Hold>| {
            match done {
                Some(hold) => bank(ctx)?.release(hold).await,
                None => Ok(()),
            }
        }
    );
    compensate!(ctx, "hold in a fn", [id = hold.0, hold], async move |_| {
        assert_eq!(Hold(id), hold);
        Ok(())
    });
    Ok(hold)
}

async fn generic<T>(ctx: &Ctx, value: T) -> Result<T, StepError>
where
    T: Clone + Serialize + serde::de::DeserializeOwned + Send + Sync + fmt::Debug + 'static,
{
    let given: T = step!(ctx, "generic", async { Ok(value.clone()) }).await?;
    compensate!(ctx, "generic", [given], async move |_| {
        drop(given);
        Ok(())
    });
    Ok(given)
}

#[derive(Debug, Serialize, Deserialize)]
#[event(name = "shipped")]
struct Shipped {
    at: String,
}

async fn waits(ctx: &Ctx, order: &Order) -> Result<(), StepError> {
    sleep!(ctx, "nap", "1h").await;
    sleep!(ctx, "long nap", key = order.id, Duration::from_secs(order.id) * 2).await;
    let shipped: Shipped = wait_for!(ctx, "shipped", key = order.id).await?;
    let again: Option<Shipped> = wait_for!(ctx, "again", key = order.id, timeout = "3d").await?;
    let later: Option<Shipped> =
        wait_for!(ctx, "later", key = format!("{}-x", order.id), timeout = Duration::from_secs(order.id)).await?;
    drop((shipped, again, later));
    let first: Option<u64> = race!(ctx, "first", key = order.id,
        shipped = wait_for!(ctx, "in a race", key = order.id) => {
            let Shipped { at } = shipped?;
            Some(at.len() as u64)
        },
        () = sleep!(ctx, "patience", "1d") => None,
        charged = step!(ctx, "late", async { bank(ctx)?.charge(1).await }) => Some(charged?),
    )
    .await?;
    assert!(first.is_none_or(|at| at > 0));
    let child = spawn!(ctx, "child", places, order.clone()).await?;
    child.join().await?;
    if patch!(ctx, "new mail").await? {
        pivot!(ctx).await?;
    }
    let _: u64 = step_tx!(ctx, "book", async |tx| {
        let _: &mut jobs::__private::steps::StepTx = tx;
        bank(ctx)?.charge(order.id).await
    })
    .await?;
    let owned = order.clone();
    let _: u64 = step_tx!(ctx, "move", key = owned.id, async move |_tx| Ok(owned.id)).await?;
    Ok(())
}

/// Errors in a box that is no error itself.
#[job(tenant = none)]
async fn anyhow_like(ctx: &Ctx) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    step!(ctx, "a", async { Err::<(), Box<dyn std::error::Error + Send + Sync>>("no".into()) }).await?;
    Ok(())
}
