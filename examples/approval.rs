//! Waits days for a person's answer: parked, at no cost. The clock is the test's, so that days pass at once.
//!
//! ```text
//! cargo run --example approval
//! ```

use jobs::{Outcome, prelude::*, testing::Harness};

#[derive(Debug, Serialize, Deserialize)]
struct Expense {
    org: String,
    number: u32,
    cents: u64,
}

/// Somebody has decided. Only runs of the same tenant see it.
#[derive(Debug, Serialize, Deserialize)]
#[event(name = "expense.decided", tenant = self.org, ttl = "30d")]
struct Decided {
    org: String,
    by: String,
    approved: bool,
}

/// Asks for a decision, reminds after three days, and gives up a week later.
#[job(tenant = input.org)]
async fn reimburse(ctx: &Ctx, input: Expense) -> Result<String, Failure> {
    step!(ctx, "ask", async { tell(&format!("expense {} of {} cents asks for approval", input.number, input.cents)) })
        .await?;

    let mut decided: Option<Decided> = wait_for!(ctx, "decided", key = input.number, timeout = "3d").await?;
    if decided.is_none() {
        step!(ctx, "remind", async { tell(&format!("expense {} still waits for approval", input.number)) }).await?;
        decided = wait_for!(ctx, "decided late", key = input.number, timeout = "7d").await?;
    }
    match decided {
        Some(Decided { by, approved: true, .. }) => Ok(format!("approved by {by}")),
        Some(Decided { by, .. }) => Ok(format!("declined by {by}")),
        None => Ok("nobody decided".to_owned()),
    }
}

/// Stands for a mail.
fn tell(text: &str) -> Result<(), Failure> {
    println!("  mail: {text}");
    Ok(())
}

fn expense(number: u32) -> Expense {
    Expense { org: "acme".to_owned(), number, cents: 12_000 }
}

fn decided(by: &str, approved: bool) -> Decided {
    Decided { org: "acme".to_owned(), by: by.to_owned(), approved }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let app = Harness::new()?;

    println!("Approved after two days:");
    let run = app.run::<reimburse>(expense(1)).await;
    assert_eq!(run.outcome, Outcome::Parked);
    app.clock().advance("2d");
    assert!(app.drain().await.is_empty(), "a run that waits does nothing");
    decided("Ada", true).publish(app.jobs(), 1).await?;
    app.drain().await;
    let output: String = app.output(run.job).await;
    println!("  {output}");
    assert_eq!(output, "approved by Ada");

    println!("Declined before it was asked for:");
    decided("Bob", false).publish(app.jobs(), 2).await?;
    let run = app.run::<reimburse>(expense(2)).await;
    assert_eq!(run.outcome, Outcome::Completed);
    assert_eq!(app.output::<String>(run.job).await, "declined by Bob");

    println!("Reminded, and decided late:");
    let run = app.run::<reimburse>(expense(3)).await;
    app.clock().advance("3d");
    app.drain().await;
    for step in app.jobs().timeline(run.job).await?.steps {
        println!("  {:<12} {:?}", step.name, step.state);
    }
    app.clock().advance("6d");
    decided("Cleo", true).publish(app.jobs(), 3).await?;
    app.drain().await;
    assert_eq!(app.output::<String>(run.job).await, "approved by Cleo");

    println!("Never decided; another tenant's event with the same key is not seen:");
    let run = app.run::<reimburse>(expense(4)).await;
    Decided { org: "globex".to_owned(), ..decided("Eve", true) }.publish(app.jobs(), 4).await?;
    for days in ["3d", "7d"] {
        app.clock().advance(days);
        app.drain().await;
    }
    assert_eq!(app.output::<String>(run.job).await, "nobody decided");
    Ok(())
}
