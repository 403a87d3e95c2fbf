//! Decides a race once and for all replays. Upstream: the macros.

use super::{error::StepError, open::Opened, output, run::Run, spec::StepSpec};
use crate::{
    ctx::Ctx,
    driver::{StepKind, StepRef, StepStatus},
    failure::Failure,
    json::JsonText,
};
use serde::{Deserialize, Serialize};
use std::{
    collections::HashSet,
    convert::Infallible,
    future::{Future, poll_fn},
    pin::Pin,
    task::{Context, Poll},
};

/// A branch of a race and those after it.
#[derive(Debug)]
pub struct Branch<F, R>(pub F, pub R);

/// The end of the branches.
#[derive(Debug)]
pub struct NoBranch;

/// What the branch gave that came first.
#[derive(Debug)]
pub enum Won<A, R> {
    /// It is this one.
    First(A),
    /// It is a later one.
    Later(R),
}

/// The branches of a race.
pub trait Branches {
    /// What the one gives that comes first.
    type Won;
    /// The branches as they are polled.
    type Polled: Polled<Won = Self::Won>;
    /// Makes them ready to be polled.
    fn start(self) -> Self::Polled;
}

/// Branches that are polled.
pub trait Polled {
    /// What the one gives that comes first.
    type Won;
    /// Polls those that may be, in order. `place` is the first one's.
    fn poll(&mut self, cx: &mut Context<'_>, only: Option<u32>, place: u32) -> Poll<(u32, Self::Won)>;
    /// Polls all but this one, in order, and drops what they give. Ready once all have given something.
    fn replay(&mut self, cx: &mut Context<'_>, but: Option<u32>, place: u32) -> Poll<()>;
}

impl<F: Future, R: Branches> Branches for Branch<F, R> {
    type Won = Won<F::Output, R::Won>;
    type Polled = Branch<Option<Pin<Box<F>>>, R::Polled>;

    fn start(self) -> Self::Polled {
        Branch(Some(Box::pin(self.0)), self.1.start())
    }
}

impl Branches for NoBranch {
    type Won = Infallible;
    type Polled = Self;

    fn start(self) -> Self {
        self
    }
}

impl<F: Future, R: Polled> Polled for Branch<Option<Pin<Box<F>>>, R> {
    type Won = Won<F::Output, R::Won>;

    fn poll(&mut self, cx: &mut Context<'_>, only: Option<u32>, place: u32) -> Poll<(u32, Self::Won)> {
        if only.is_none_or(|only| only == place)
            && let Some(branch) = &mut self.0
            && let Poll::Ready(output) = branch.as_mut().poll(cx)
        {
            return Poll::Ready((place, Won::First(output)));
        }
        self.1.poll(cx, only, place + 1).map(|(place, won)| (place, Won::Later(won)))
    }

    fn replay(&mut self, cx: &mut Context<'_>, but: Option<u32>, place: u32) -> Poll<()> {
        let mut replayed = Poll::Ready(());
        if but != Some(place)
            && let Some(branch) = &mut self.0
        {
            match branch.as_mut().poll(cx) {
                Poll::Ready(_) => self.0 = None,
                Poll::Pending => replayed = Poll::Pending,
            }
        }
        let others = self.1.replay(cx, but, place + 1);
        if others.is_pending() { others } else { replayed }
    }
}

impl Polled for NoBranch {
    type Won = Infallible;

    fn poll(&mut self, _: &mut Context<'_>, _: Option<u32>, _: u32) -> Poll<(u32, Infallible)> {
        Poll::Pending
    }

    fn replay(&mut self, _: &mut Context<'_>, _: Option<u32>, _: u32) -> Poll<()> {
        Poll::Ready(())
    }
}

/// What is recorded of a race.
#[derive(Serialize, Deserialize)]
struct Outcome {
    /// The winner's place, from 0.
    winner: u32,
    /// The smallest position of what the branches began: before the race's own where the run was parked in it.
    from: u32,
    /// The largest position that anything had begun at by then: what lost lies within.
    until: u32,
}

/// Gives what the branch gives that comes first, or that came first when this was recorded: then no other is
/// polled, but once in the replay of a run that unwinds.
///
/// # Errors
/// `X_STEP_DUPLICATE`, `X_STEP_NESTED`, `X_STEP_NAME_INVALID`, `X_STEP_OUTSIDE_RUN`.
pub async fn race<B: Branches>(
    ctx: &Ctx,
    spec: &'static StepSpec,
    key: Option<String>,
    branches: B,
) -> Result<B::Won, StepError> {
    let run = ctx.steps();
    let mut opened = run.open(StepKind::Race, spec, key).await?;
    let label = opened.label();
    let mut winner = None;
    if let Some(record) = &opened.record {
        let outcome: Outcome = match output::decode(record.output.as_ref()) {
            Ok(outcome) => outcome,
            Err(what) => return run.mismatch(&label, &what).await,
        };
        run.pass_over(&outcome);
        winner = Some(outcome.winner);
    }
    // The branches keep the body by themselves.
    opened.busy = None;
    let before = if winner.is_none() { run.state().begun.clone() } else { HashSet::new() };
    let mut branches = branches.start();
    if !run.goes_forward() {
        // What did not win may have done something, too: it registers how that is undone.
        let open = run.frontier().len();
        let all = poll_fn(|cx| match (branches.replay(cx, winner, 0), winner) {
            (Poll::Pending, None) => Poll::Pending,
            (_, Some(_)) | (Poll::Ready(()), None) => Poll::Ready(()),
        });
        all.await;
        match winner {
            // The body goes on without it.
            Some(_) => run.state().frontier.truncate(open),
            None => run.stay_unless_forward(&label).await?,
        }
    }
    let (place, won) = poll_fn(|cx| branches.poll(cx, winner, 0)).await;
    drop(branches);
    if winner.is_some() {
        run.state().replayed += 1;
        return Ok(won);
    }
    run.stay_unless_forward(&label).await?;
    opened.busy = Some(run.busy());
    run.decide(&opened, place, &before).await.map_err(|failure| StepError::new(label, failure))?;
    Ok(won)
}

impl Run {
    /// Records who won.
    async fn decide(&self, opened: &Opened, winner: u32, before: &HashSet<StepRef>) -> Result<(), Failure> {
        let (from, until) = {
            let state = self.state();
            let begun = state.begun.difference(before).filter_map(|id| state.records.get(id));
            let from = begun.map(|record| record.position).min().unwrap_or(opened.position);
            (from.min(opened.position), state.last_position)
        };
        let mut done = opened.write(StepStatus::Done);
        done.output = Some(JsonText::trusted(serde_json::to_string(&Outcome { winner, from, until })?));
        self.write(done).await?;
        self.state().run += 1;
        Ok(())
    }

    /// Counts what a race's branches recorded as begun, whether or not this replay comes to it.
    fn pass_over(&self, outcome: &Outcome) {
        let mut state = self.state();
        let range = outcome.from..=outcome.until;
        let lost = state.records.values().filter(|record| range.contains(&record.position));
        let lost: Vec<_> = lost.map(|record| record.id.clone()).collect();
        state.passed.extend(lost);
    }
}
