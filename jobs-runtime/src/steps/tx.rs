//! Runs a step in a transaction that records it: exactly once. Upstream: the macros. Downstream: `driver`.

use super::{
    begin::Begin,
    error::StepError,
    output::{self, StepOutput},
    run::{Journal, Stopped},
    spec::StepSpec,
    tries::Tries,
};
use crate::{
    ctx::Ctx,
    driver::{JoinTx, StepKind, StepStatus, StepTransaction, Tx},
    error::{Error, code},
    failure::{Failure, Verdict},
    logged,
};
use std::{fmt, future::Future, time::Duration};

/// How long a run waits whose store did not answer to a transaction.
const AGAIN: Duration = Duration::from_secs(5);

/// The transaction that a `step_tx!` runs in. What is done in it takes effect together with the step's record, or not
/// at all: its statements, and what is enqueued and published with `.in_tx(tx)`.
pub struct StepTx(Box<dyn StepTransaction>);

impl StepTx {
    /// The connection, which has begun the transaction: its `app.tenant` setting is the run's tenant.
    ///
    /// # Errors
    /// `X_DRIVER_UNSUPPORTED` where the jobs are not stored in Postgres.
    #[cfg(feature = "pg")]
    pub fn pg(&mut self) -> Result<&mut sqlx::PgConnection, Error> {
        self.0.tx().downcast().ok_or_else(|| {
            let text = "a transactional step asked for a connection of Postgres, where the jobs are not stored";
            Error::new(code::DRIVER_UNSUPPORTED, text)
        })
    }
}

impl JoinTx for StepTx {
    fn tx(&mut self) -> Tx<'_> {
        self.0.tx()
    }
}

impl fmt::Debug for StepTx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StepTx")
    }
}

/// A transactional step whose body is to run.
#[derive(Debug)]
pub struct RunningTx(Tries);

/// Begins a transactional step.
///
/// # Errors
/// As [`begin`](super::begin::begin).
pub async fn begin_tx<T: StepOutput>(
    ctx: &Ctx,
    spec: &'static StepSpec,
    key: Option<String>,
) -> Result<Begin<T, RunningTx>, StepError> {
    Ok(match Tries::begin(ctx, StepKind::StepTx, spec, key).await? {
        Begin::Done(output) => Begin::Done(output),
        Begin::Run(tries) => Begin::Run(RunningTx(tries)),
    })
}

impl RunningTx {
    /// Begins the transaction of one try.
    ///
    /// # Errors
    /// `X_DRIVER_UNSUPPORTED` if the driver has no such transactions. A store that does not answer fails nothing: the run
    /// goes back, uncounted.
    pub async fn open(&mut self) -> Result<StepTx, StepError> {
        let run = &self.0.run;
        let begun = match run.journal() {
            Journal::Store(committer, fence) => {
                let tenant = run.tenant().map(str::to_owned);
                run.driver().begin_step(committer.worker(), *fence, tenant).await
            }
            Journal::Memory | Journal::Replay => {
                let text = "a context for a unit test has no transactional steps: give its output with `mock_step`";
                Err(Error::new(code::DRIVER_UNSUPPORTED, text))
            }
        };
        match begun {
            Ok(tx) => Ok(StepTx(tx)),
            Err(error) if error.is_unavailable() => {
                tracing::warn!(event = logged::RUN_UNREADABLE, %error, "the run goes back: a step's transaction does not begin");
                run.stop_here(Stopped::HandBack(AGAIN)).await
            }
            Err(error) => Err(self.0.failed(Failure::from(error))),
        }
    }

    /// Runs the body of one try, within the step's timeout.
    ///
    /// # Errors
    /// The body's own; a timeout.
    pub async fn body<T, F>(&mut self, body: F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        self.0.bounded(body).await
    }

    /// Ends the only try of a step without `retry(..)`: commits what it did together with the step's record, or rolls it
    /// back.
    ///
    /// # Errors
    /// The body's own; an output that cannot be stored; what the commit was refused for.
    pub async fn commit<T: StepOutput>(mut self, tx: StepTx, result: Result<T, Failure>) -> Result<T, StepError> {
        match self.end(tx, result).await {
            Ok(value) => Ok(value),
            Err(failure) => self.0.conclude(Err(failure)).await,
        }
    }

    /// Ends one try, as [`commit`](Self::commit). `None`: try again, the wait is over.
    ///
    /// # Errors
    /// As [`commit`](Self::commit), after the last try.
    pub async fn attempt<T: StepOutput>(
        &mut self,
        tx: StepTx,
        result: Result<T, Failure>,
    ) -> Option<Result<T, StepError>> {
        match self.end(tx, result).await {
            Ok(value) => Some(Ok(value)),
            Err(failure) => self.0.follow::<T>(Err(failure)).await,
        }
    }

    async fn end<T: StepOutput>(&self, tx: StepTx, result: Result<T, Failure>) -> Result<T, Failure> {
        let value = result?;
        let Tries { run, opened, .. } = &self.0;
        let mut done = opened.write(StepStatus::Done);
        done.due_at = None;
        done.output = Some(output::encode(&value)?);
        run.state().recording = true;
        match tx.0.commit(done.clone()).await {
            Ok(written) => run.landed(done, written).await.map_err(refused)?,
            // Whether it landed is not known here; the store knows when the run is read anew.
            Err(error) => {
                tracing::warn!(event = logged::RUN_UNREADABLE, %error, "the run goes back: a step's commit has no answer");
                return run.stop_here(Stopped::HandBack(AGAIN)).await;
            }
        }
        run.state().run += 1;
        Ok(value)
    }
}

fn refused(error: Error) -> Failure {
    let text = format!("its transaction was not committed: {}", error.detail());
    Failure::of(error.code(), Verdict::Backoff, text)
}
