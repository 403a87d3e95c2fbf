//! An output that cannot be stored fails the job for good, and its effect is not repeated.

use crate::log::{harness, note};
use jobs::{Execution, Outcome, prelude::*};

/// What the step returns.
#[derive(Debug, Serialize, Deserialize)]
enum What {
    Large(usize),
    Nul,
    NaN,
}

/// Returns what cannot be stored, and ignores the failure.
#[job(tenant = none, retry(max_attempts = 3, backoff = fixed("1s")))]
async fn returns(ctx: &Ctx, input: What) -> Result<(), Failure> {
    let given = step!(ctx, "effect", async {
        note(ctx, "effect");
        Ok(match input {
            What::Large(bytes) => ("x".repeat(bytes), 0.0),
            What::Nul => ("a\0b".to_owned(), 0.0),
            What::NaN => (String::new(), f64::NAN),
        })
    })
    .await;
    // A retry of the whole job would repeat the effect, were it not recorded.
    given.map(drop).map_err(|error| Failure::retry(error.to_string()).code(error.failure().code_name().to_owned()))
}

fn refusal(run: &Execution) -> (&str, &str) {
    let error = run.error.as_ref().expect("it failed");
    (&error.code, &error.operator)
}

#[tokio::test]
async fn the_effect_is_not_repeated_and_the_failure_names_step_size_and_limit() {
    for (what, code, text) in [
        (
            What::Large(1 << 20),
            "X_STEP_OUTPUT_TOO_LARGE",
            "step `effect`: its output is 1048584 bytes of JSON, the limit is 1048576",
        ),
        (What::Nul, "X_STEP_OUTPUT_INVALID", "step `effect`: its output holds"),
        (What::NaN, "X_STEP_OUTPUT_INVALID", "step `effect`: its output holds"),
    ] {
        let (app, log) = harness!(returns);
        let run = app.run::<returns>(what).await;
        assert_eq!(refusal(&run).0, code);
        assert!(refusal(&run).1.contains(text), "{}", refusal(&run).1);
        app.clock().advance("1s");
        let again = app.attempt(run.job).await;
        assert_eq!(refusal(&again).0, code);
        assert_eq!(log.take(), ["effect"]);
    }
}

#[tokio::test]
async fn an_output_of_just_the_limit_is_stored() {
    let (app, _) = harness!(returns);
    // `["xx…",0.0]`
    assert_eq!(app.run::<returns>(What::Large((1 << 20) - 8)).await.outcome, Outcome::Completed);
}

/// Passes the failure on.
#[job(tenant = none)]
async fn passes_on(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "effect", async { Ok(f64::INFINITY) }).await?;
    Ok(())
}

#[tokio::test]
async fn passed_on_it_is_permanent() {
    let (app, _) = harness!(passes_on);
    let run = app.run::<passes_on>(()).await;
    assert_eq!((run.outcome, refusal(&run).0), (Outcome::Dead, "X_STEP_OUTPUT_INVALID"));
}
