//! Records steps and the decision to unwind. Upstream: `apply`, `step_tx`. Downstream: the database.

use super::{
    Answers,
    apply::{Failures, Fences, saturate},
    rounds::{Items, role},
};
use crate::{
    driver::{
        Fence, NewJob, StepWrite, Unwind, WorkerId, Written,
        pg::{Pg, enqueue, times},
        refused_forward,
    },
    id::JobId,
    spec::OnConflict,
};
use chrono::{DateTime, Utc};
use sqlx::{
    PgConnection, Postgres, Row,
    postgres::{PgArguments, PgRow},
    query::Query,
};
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// Records, one array per column.
pub(in crate::driver::pg) struct Records<'w> {
    fences: Fences,
    failures: Failures<'w>,
    names: Vec<&'w str>,
    keys: Vec<&'w str>,
    roles: Vec<i16>,
    kinds: Vec<i16>,
    statuses: Vec<i16>,
    positions: Vec<i32>,
    tries: Vec<i32>,
    onces: Vec<bool>,
    outputs: Vec<Option<&'w str>>,
    due_at: Vec<Option<DateTime<Utc>>>,
    events: Vec<Option<Uuid>>,
    ages: Vec<f64>,
    children: Vec<Option<Uuid>>,
}

impl<'w> Records<'w> {
    pub(in crate::driver::pg) fn of(items: &[(Fence, &'w StepWrite)]) -> Self {
        let steps = || items.iter().map(|(_, step)| *step);
        Self {
            fences: Fences::of(items.iter().map(|(fence, _)| fence)),
            failures: Failures::of(steps().map(|step| step.failure.as_ref())),
            names: steps().map(|step| step.id.name.as_str()).collect(),
            keys: steps().map(|step| step.id.key.as_str()).collect(),
            roles: steps().map(|step| role(step.kind)).collect(),
            kinds: steps().map(|step| step.kind as i16).collect(),
            statuses: steps().map(|step| step.status as i16).collect(),
            positions: steps().map(|step| saturate(step.position)).collect(),
            tries: steps().map(|step| saturate(step.tries)).collect(),
            onces: steps().map(|step| step.once).collect(),
            outputs: steps().map(|step| step.output.as_ref().map(|output| output.as_str())).collect(),
            due_at: steps().map(|step| step.due_at).collect(),
            events: steps().map(|step| step.event.map(|event| event.0)).collect(),
            ages: steps().map(|step| times::seconds(step.age)).collect(),
            children: steps().map(|step| step.child.as_ref().map(|child| child.id.0)).collect(),
        }
    }

    pub(in crate::driver::pg) fn bind(
        self,
        query: Query<'w, Postgres, PgArguments>,
        worker: WorkerId,
        with: With,
    ) -> Query<'w, Postgres, PgArguments> {
        query
            .bind(worker.0)
            .bind(self.fences.jobs)
            .bind(self.fences.attempts)
            .bind(self.fences.tokens)
            .bind(self.names)
            .bind(self.keys)
            .bind(self.roles)
            .bind(self.kinds)
            .bind(self.statuses)
            .bind(self.positions)
            .bind(self.tries)
            .bind(self.onces)
            .bind(self.outputs)
            .bind(self.failures.codes)
            .bind(self.failures.texts)
            .bind(self.failures.fixes)
            .bind(self.failures.stops)
            .bind(self.due_at)
            .bind(self.events)
            .bind(self.ages)
            .bind(self.children)
            .bind(with == With::Decision)
    }
}

/// With what records are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::driver::pg) enum With {
    /// By themselves: no step of a run that unwinds goes forward.
    Nothing,
    /// With the decision to unwind, which may be written again.
    Decision,
}

/// How a run stands whose step is recorded.
pub(in crate::driver::pg) struct Holding {
    is_asked: bool,
    unwinds: bool,
}

impl Holding {
    pub(in crate::driver::pg) fn of(row: &PgRow) -> Result<Self, sqlx::Error> {
        Ok(Self { is_asked: row.try_get(1)?, unwinds: row.try_get(3)? })
    }

    /// What became of its record.
    pub(in crate::driver::pg) fn answer(&self, step: &StepWrite) -> Written {
        if self.unwinds && step.kind.is_forward() {
            return Written::Refused(refused_forward(&step.id.name));
        }
        if self.is_asked && step.child.is_some() { Written::Cancelled } else { Written::Landed }
    }
}

/// What became of a statement's records.
struct Recorded {
    /// The runs that are held.
    held: HashMap<Uuid, Holding>,
    /// The children whose spawn was not recorded before.
    spawned: HashSet<Uuid>,
}

async fn record(
    pg: &Pg,
    worker: WorkerId,
    items: &[(Fence, &StepWrite)],
    with: With,
    connection: &mut PgConnection,
) -> Result<Recorded, sqlx::Error> {
    let rows = Records::of(items).bind(pg.query(&pg.sql.record), worker, with).fetch_all(connection).await?;
    let mut recorded = Recorded { held: HashMap::with_capacity(rows.len()), spawned: HashSet::new() };
    for row in &rows {
        recorded.held.insert(row.try_get(0)?, Holding::of(row)?);
        recorded.spawned.extend(row.try_get::<Vec<Uuid>, _>(2)?);
    }
    Ok(recorded)
}

/// Records steps, and writes their children in the same transaction.
pub(super) async fn steps(
    pg: &Pg,
    worker: WorkerId,
    items: &Items<'_, StepWrite>,
    connection: &mut PgConnection,
    answers: &mut Answers,
) -> Result<(), sqlx::Error> {
    let plain: Vec<_> = items.iter().map(|(_, fence, step)| (*fence, *step)).collect();
    let recorded = record(pg, worker, &plain, With::Nothing, connection).await?;
    let children: Vec<_> = plain
        .iter()
        .filter_map(|(fence, step)| Some((fence.job, step.child.as_deref()?)))
        .filter(|(_, child)| recorded.spawned.contains(&child.id.0))
        .map(|(run, child)| spawned(run, child))
        .collect();
    enqueue_soon(pg, &children, connection).await?;
    answers.extend(items.iter().map(|(place, fence, step)| {
        let holding = recorded.held.get(&fence.job.0);
        (*place, holding.map_or(Written::Stale, |holding| holding.answer(step)))
    }));
    Ok(())
}

/// A child that is not written fails its spawn: nothing would ever tell the run of its end.
fn spawned(run: JobId, child: &NewJob) -> NewJob {
    let mut child = child.clone();
    child.parent = Some(run);
    if let Some(unique) = &mut child.unique {
        unique.on_conflict = OnConflict::Reject;
    }
    child
}

/// Writes the jobs that belong to other writes of the transaction. Somebody's open transaction may hold a unique key of
/// theirs: what goes together with them is not to wait long for it.
pub(super) async fn enqueue_soon(pg: &Pg, jobs: &[NewJob], connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    if jobs.iter().any(|job| job.unique.is_some()) {
        sqlx::raw_sql("SET LOCAL lock_timeout = '1s'").execute(&mut *connection).await?;
    }
    enqueue::all(pg, connection, jobs).await.map(drop).map_err(enqueue::Refusal::into_sql)
}

/// Records the decision to unwind, after the steps of the attempt that failed.
pub(super) async fn unwind(
    pg: &Pg,
    worker: WorkerId,
    items: &Items<'_, Unwind>,
    connection: &mut PgConnection,
    answers: &mut Answers,
) -> Result<(), sqlx::Error> {
    let failed: Vec<_> =
        items.iter().flat_map(|(_, fence, unwind)| unwind.records.iter().map(|step| (*fence, step))).collect();
    if !failed.is_empty() {
        record(pg, worker, &failed, With::Decision, connection).await?;
    }
    let fences = Fences::of(items.iter().map(|(_, fence, _)| fence));
    let failures = Failures::of(items.iter().map(|(_, _, unwind)| Some(&unwind.failure)));
    let landed: Vec<Uuid> = pg
        .scalar(&pg.sql.unwind)
        .bind(worker.0)
        .bind(fences.jobs)
        .bind(fences.attempts)
        .bind(fences.tokens)
        .bind(failures.codes)
        .bind(failures.texts)
        .bind(failures.fixes)
        .bind(failures.stops)
        .fetch_all(connection)
        .await?;
    answers.extend(items.iter().map(|(place, fence, _)| {
        let written = if landed.contains(&fence.job.0) { Written::Landed } else { Written::Stale };
        (*place, written)
    }));
    Ok(())
}
