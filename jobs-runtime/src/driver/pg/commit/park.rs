//! Parks runs, many in one statement. Upstream: `apply`. Downstream: the database.

use super::{
    Answers,
    apply::{Failures, Fences},
    rounds::Items,
};
use crate::driver::{
    Change, Park, Reschedule, StepWrite, Wait, WorkerId, Write, Written,
    pg::{Pg, times},
    refused_forward,
};
use sqlx::{PgConnection, Postgres, Row, postgres::PgArguments, query::Query};
use std::{collections::HashMap, sync::atomic::Ordering, time::Duration};
use uuid::Uuid;

/// Parks what was not asked to stop meanwhile. What was, gets no answer: it is to be [let go](let_go).
pub(super) async fn park(
    pg: &Pg,
    worker: WorkerId,
    items: &Items<'_, Park>,
    connection: &mut PgConnection,
    answers: &mut Answers,
) -> Result<(), sqlx::Error> {
    let fences = Fences::of(items.iter().map(|(_, fence, _)| fence));
    let reasons = Failures::of(items.iter().map(|(_, _, park)| park.reason.as_ref()));
    let query = pg
        .query(&pg.sql.park)
        .bind(worker.0)
        .bind(&fences.jobs)
        .bind(&fences.attempts)
        .bind(&fences.tokens)
        .bind(items.iter().map(|(_, _, park)| park.due_at).collect::<Vec<_>>())
        .bind(&reasons.codes)
        .bind(&reasons.texts);
    let query = Records::of(items).bind(Waits::of(items).bind(query));
    let rows = query.fetch_all(connection).await?;
    let mut parked = HashMap::with_capacity(rows.len());
    for row in &rows {
        parked.insert(row.try_get::<Uuid, _>(0)?, row.try_get::<Option<bool>, _>(1)?);
    }
    if let Some(row) = rows.first()
        && row.try_get(2)?
    {
        pg.unsure_parks.fetch_add(1, Ordering::Relaxed);
    }
    for (place, fence, park) in items {
        let written = match parked.get(&fence.job.0) {
            Some(Some(false)) => continue,
            Some(Some(true)) => Written::Landed,
            Some(None) => {
                let forward = park.records.iter().find(|record| record.kind.is_forward());
                Written::Refused(refused_forward(forward.map_or("", |record| &record.id.name)))
            }
            None => Written::Stale,
        };
        answers.insert(*place, written);
    }
    Ok(())
}

/// The write that lets a run go which was asked to cancel or to roll back before it was parked: a reschedule knows what
/// becomes of it. `None` for what is no park.
pub(super) fn let_go(write: &Write) -> Option<Write> {
    let Change::Park(park) = &write.change else { return None };
    let attempt = write.fence.attempt;
    let change = Reschedule { delay: Duration::ZERO, attempt, failure: None, keep: park.keep };
    Some(Write { fence: write.fence, change: Change::Reschedule(change) })
}

/// What the runs wait for, one array per column.
#[derive(Default)]
struct Waits {
    jobs: Vec<Uuid>,
    events: Vec<Option<String>>,
    keys: Vec<Option<String>>,
    taken: Vec<Option<String>>,
    children: Vec<Option<Uuid>>,
}

impl Waits {
    fn of(items: &Items<'_, Park>) -> Self {
        let mut columns = Self::default();
        for (_, fence, park) in items {
            for wait in &park.waits {
                columns.push(fence.job.0, wait);
            }
        }
        columns
    }

    fn push(&mut self, job: Uuid, wait: &Wait) {
        self.jobs.push(job);
        let (event, child) = match wait {
            Wait::Event(event) => (Some(event), None),
            Wait::Child(child) => (None, Some(child.0)),
        };
        self.events.push(event.map(|event| event.name.clone()));
        self.keys.push(event.map(|event| event.key.clone()));
        self.taken.push(event.map(|event| {
            let ids: Vec<_> = event.taken.iter().map(ToString::to_string).collect();
            format!("{{{}}}", ids.join(","))
        }));
        self.children.push(child);
    }

    fn bind(self, query: Query<'static, Postgres, PgArguments>) -> Query<'static, Postgres, PgArguments> {
        query.bind(self.jobs).bind(self.events).bind(self.keys).bind(self.taken).bind(self.children)
    }
}

/// What is recorded with the parks, one array per column.
struct Records<'w> {
    jobs: Vec<Uuid>,
    records: Vec<&'w StepWrite>,
}

impl<'w> Records<'w> {
    fn of(items: &Items<'w, Park>) -> Self {
        let all = items.iter().flat_map(|(_, fence, park)| park.records.iter().map(|record| (fence.job.0, record)));
        let (jobs, records) = all.unzip();
        Self { jobs, records }
    }

    fn column<T>(&self, value: impl FnMut(&&'w StepWrite) -> T) -> Vec<T> {
        self.records.iter().map(value).collect()
    }

    fn bind(&self, query: Query<'static, Postgres, PgArguments>) -> Query<'static, Postgres, PgArguments> {
        let number = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
        let failures = Failures::of(self.records.iter().map(|record| record.failure.as_ref()));
        query
            .bind(self.jobs.clone())
            .bind(self.column(|record| record.id.name.clone()))
            .bind(self.column(|record| record.id.key.clone()))
            .bind(self.column(|record| record.kind as i16))
            .bind(self.column(|record| record.status as i16))
            .bind(self.column(|record| number(record.position)))
            .bind(self.column(|record| number(record.tries)))
            .bind(self.column(|record| record.once))
            .bind(self.column(|record| record.output.as_ref().map(|output| output.as_str().to_owned())))
            .bind(&failures.codes)
            .bind(&failures.texts)
            .bind(&failures.fixes)
            .bind(&failures.stops)
            .bind(self.column(|record| record.due_at))
            .bind(self.column(|record| record.event.map(|event| event.0)))
            .bind(self.column(|record| times::seconds(record.age)))
    }
}
