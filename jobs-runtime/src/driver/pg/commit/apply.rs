//! Sends a round's statements. Upstream: `rounds`. Downstream: the database.

use super::{
    Answers,
    park::park,
    rounds::{Items, Round},
    steps,
};
use crate::{
    driver::{
        Fence, Finish, NewJob, Progress, Reschedule, WorkerId, Written,
        pg::{Pg, fault, rows::stop_text, times},
    },
    failure::RecordedFailure,
    spec::{Keep, OnConflict},
    state::State,
};
use sqlx::{PgConnection, Row};
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// Applies a round as a whole: in one statement where one suffices, else in one transaction.
pub(super) async fn apply(pg: &Pg, worker: WorkerId, round: &Round<'_>) -> Result<Answers, sqlx::Error> {
    let mut session = pg.own().acquire().await?;
    if !pg.is_pooled() && is_one_statement(round) {
        let answers = statements(pg, worker, round, &mut session).await;
        if answers.as_ref().err().is_none_or(fault::leaves_connection_well) {
            session.give_back();
        }
        return answers;
    }
    let mut tx = session.begin().await?;
    let answers = statements(pg, worker, round, &mut tx).await?;
    tx.commit().await?;
    session.give_back();
    Ok(answers)
}

/// Whether one statement writes it all.
fn is_one_statement(round: &Round<'_>) -> bool {
    round.kinds() == 1
        && round.finish.iter().all(|(_, _, finish)| finish.follow_up.is_none())
        && round.steps.iter().all(|(_, _, step)| step.child.is_none())
        && round.unwind.iter().all(|(_, _, unwind)| unwind.records.is_empty())
}

async fn statements(
    pg: &Pg,
    worker: WorkerId,
    round: &Round<'_>,
    connection: &mut PgConnection,
) -> Result<Answers, sqlx::Error> {
    let mut answers = Answers::with_capacity(round.len());
    if !round.progress.is_empty() {
        progress(pg, worker, &round.progress, connection, &mut answers).await?;
    }
    if !round.steps.is_empty() {
        steps::steps(pg, worker, &round.steps, connection, &mut answers).await?;
    }
    if !round.unwind.is_empty() {
        steps::unwind(pg, worker, &round.unwind, connection, &mut answers).await?;
    }
    if !round.finish.is_empty() {
        finish(pg, worker, &round.finish, connection, &mut answers).await?;
    }
    if !round.reschedule.is_empty() {
        reschedule(pg, worker, &round.reschedule, connection, &mut answers).await?;
    }
    // Last: nothing is waited for while it holds the locks that publishers wait for.
    if !round.park.is_empty() {
        park(pg, worker, &round.park, connection, &mut answers).await?;
    }
    Ok(answers)
}

async fn progress(
    pg: &Pg,
    worker: WorkerId,
    items: &Items<'_, Progress>,
    connection: &mut PgConnection,
    answers: &mut Answers,
) -> Result<(), sqlx::Error> {
    let fences = Fences::of(items.iter().map(|(_, fence, _)| fence));
    let texts: Result<Vec<_>, _> = items.iter().map(|(_, _, progress)| serde_json::to_string(progress)).collect();
    let landed = pg
        .scalar::<Uuid>(&pg.sql.progress)
        .bind(worker.0)
        .bind(&fences.jobs)
        .bind(&fences.attempts)
        .bind(&fences.tokens)
        .bind(texts.map_err(|error| sqlx::Error::Encode(error.into()))?)
        .fetch_all(connection)
        .await?;
    let landed: HashSet<_> = landed.into_iter().collect();
    answers.extend(items.iter().map(|(place, fence, _)| (*place, answer(landed.contains(&fence.job.0)))));
    Ok(())
}

async fn finish(
    pg: &Pg,
    worker: WorkerId,
    items: &Items<'_, Finish>,
    connection: &mut PgConnection,
    answers: &mut Answers,
) -> Result<(), sqlx::Error> {
    let landed: HashSet<Uuid> = match plain_completions(items) {
        Some(keep) => complete(pg, worker, items, keep, connection).await?,
        None => finish_any(pg, worker, items, connection).await?,
    }
    .into_iter()
    .collect();
    let follow_ups: Vec<_> = items
        .iter()
        .filter(|(_, fence, _)| landed.contains(&fence.job.0))
        .filter_map(|(_, _, finish)| finish.follow_up.as_deref())
        .map(follow_up)
        .collect();
    steps::enqueue_soon(pg, &follow_ups, connection).await?;
    answers.extend(items.iter().map(|(place, fence, _)| (*place, answer(landed.contains(&fence.job.0)))));
    Ok(())
}

/// A follow-up never fails the finish that it belongs to: a key that is taken means that the job exists.
fn follow_up(job: &NewJob) -> NewJob {
    let mut job = job.clone();
    if let Some(unique) = &mut job.unique {
        unique.on_conflict = OnConflict::Existing;
    }
    job
}

/// How long all items are kept, if all are completions without an output that are kept equally long.
fn plain_completions(items: &Items<'_, Finish>) -> Option<Keep> {
    let keep = items.first()?.2.keep;
    let plain = |finish: &Finish| {
        finish.state == State::Completed && finish.output.is_none() && finish.failure.is_none() && finish.keep == keep
    };
    items.iter().all(|(_, _, finish)| plain(finish)).then_some(keep)
}

async fn complete(
    pg: &Pg,
    worker: WorkerId,
    items: &Items<'_, Finish>,
    keep: Keep,
    connection: &mut PgConnection,
) -> Result<Vec<Uuid>, sqlx::Error> {
    let fences = Fences::of(items.iter().map(|(_, fence, _)| fence));
    pg.scalar(&pg.sql.complete)
        .bind(worker.0)
        .bind(&fences.jobs)
        .bind(&fences.attempts)
        .bind(&fences.tokens)
        .bind(seconds(keep))
        .fetch_all(connection)
        .await
}

async fn finish_any(
    pg: &Pg,
    worker: WorkerId,
    items: &Items<'_, Finish>,
    connection: &mut PgConnection,
) -> Result<Vec<Uuid>, sqlx::Error> {
    let fences = Fences::of(items.iter().map(|(_, fence, _)| fence));
    let failures = Failures::of(items.iter().map(|(_, _, finish)| finish.failure.as_ref()));
    let states: Vec<_> = items.iter().map(|(_, _, finish)| finish.state as i16).collect();
    let outputs: Vec<_> =
        items.iter().map(|(_, _, finish)| finish.output.as_ref().map(|output| output.as_str())).collect();
    let keeps: Vec<_> = items.iter().map(|(_, _, finish)| seconds(finish.keep)).collect();
    pg.scalar(&pg.sql.finish)
        .bind(worker.0)
        .bind(&fences.jobs)
        .bind(&fences.attempts)
        .bind(&fences.tokens)
        .bind(states)
        .bind(outputs)
        .bind(&failures.codes)
        .bind(&failures.texts)
        .bind(&failures.fixes)
        .bind(&failures.stops)
        .bind(keeps)
        .fetch_all(connection)
        .await
}

async fn reschedule(
    pg: &Pg,
    worker: WorkerId,
    items: &Items<'_, Reschedule>,
    connection: &mut PgConnection,
    answers: &mut Answers,
) -> Result<(), sqlx::Error> {
    let fences = Fences::of(items.iter().map(|(_, fence, _)| fence));
    let failures = Failures::of(items.iter().map(|(_, _, change)| change.failure.as_ref()));
    let attempts: Vec<_> = items.iter().map(|(_, _, change)| saturate(change.attempt)).collect();
    let delays: Vec<_> = items.iter().map(|(_, _, change)| times::seconds(change.delay)).collect();
    let failed: Vec<_> = items.iter().map(|(_, _, change)| change.failure.is_some()).collect();
    let keeps: Vec<_> = items.iter().map(|(_, _, change)| seconds(change.keep)).collect();
    let undone = RecordedFailure::rolled_back();
    let rows = pg
        .query(&pg.sql.reschedule)
        .bind(worker.0)
        .bind(&fences.jobs)
        .bind(&fences.attempts)
        .bind(&fences.tokens)
        .bind(attempts)
        .bind(delays)
        .bind(failed)
        .bind(&failures.codes)
        .bind(&failures.texts)
        .bind(&failures.fixes)
        .bind(&failures.stops)
        .bind(keeps)
        .bind(&pg.channel)
        .bind(undone.code)
        .bind(undone.operator)
        .bind(undone.stop.map(stop_text))
        .fetch_all(connection)
        .await?;
    let mut landed = HashMap::with_capacity(rows.len());
    for row in &rows {
        landed.insert(row.try_get::<Uuid, _>(0)?, row.try_get::<bool, _>(1)?);
    }
    answers.extend(items.iter().map(|(place, fence, _)| {
        let written = match landed.get(&fence.job.0) {
            Some(true) => Written::Cancelled,
            Some(false) => Written::Landed,
            None => Written::Stale,
        };
        (*place, written)
    }));
    Ok(())
}

pub(super) fn answer(landed: bool) -> Written {
    if landed { Written::Landed } else { Written::Stale }
}

fn seconds(keep: Keep) -> Option<f64> {
    match keep {
        Keep::None => None,
        Keep::For(period) => Some(times::seconds(period)),
    }
}

pub(super) fn saturate(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// The fences, one array each.
pub(super) struct Fences {
    pub(super) jobs: Vec<Uuid>,
    pub(super) attempts: Vec<i32>,
    pub(super) tokens: Vec<i64>,
}

impl Fences {
    pub(super) fn of<'f>(fences: impl Iterator<Item = &'f Fence> + Clone) -> Self {
        Self {
            jobs: fences.clone().map(|fence| fence.job.0).collect(),
            attempts: fences.clone().map(|fence| saturate(fence.attempt)).collect(),
            tokens: fences.map(|fence| fence.token.0).collect(),
        }
    }
}

/// The failures, one array per column.
#[derive(Default)]
pub(super) struct Failures<'w> {
    pub(super) codes: Vec<Option<&'w str>>,
    pub(super) texts: Vec<Option<&'w str>>,
    pub(super) fixes: Vec<Option<&'w str>>,
    pub(super) stops: Vec<Option<&'static str>>,
}

impl<'w> Failures<'w> {
    pub(super) fn of(failures: impl Iterator<Item = Option<&'w RecordedFailure>>) -> Self {
        let mut columns = Self::default();
        for failure in failures {
            columns.codes.push(failure.map(|failure| failure.code.as_str()));
            columns.texts.push(failure.map(|failure| failure.operator.as_str()));
            columns.fixes.push(failure.and_then(|failure| failure.caller_fix.as_deref()));
            columns.stops.push(failure.and_then(|failure| failure.stop).map(stop_text));
        }
        columns
    }
}
