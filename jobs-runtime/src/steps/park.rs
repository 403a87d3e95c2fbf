//! What a run that is let go of waits for. Upstream: `execute`. Downstream: `driver`.

use super::{
    pend::On,
    run::{Run, Stopped},
};
use crate::{
    driver::{Park, StepWrite, Wait},
    error::Error,
    failure::RecordedFailure,
    spec::Keep,
    task::task,
};
use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;
use std::{future::Future, task::Waker, time::Duration};

/// How often what a body waits for is looked for while it does something else as well.
const LOOK: Duration = Duration::from_secs(1);
/// How often a look that the store does not answer is tried again.
const TRIES: u32 = 5;

impl Run {
    /// Keeps the times of sleeps and waits that are not recorded, to be recorded with what parks the run.
    pub(super) fn keep_times(&self) {
        let mut state = self.state();
        let records: Vec<_> = state.pending.waits().filter_map(|pend| pend.record.clone()).collect();
        state.failures.extend(records);
    }

    /// What the run waits for, with all that is not recorded yet.
    pub(crate) fn park(&self) -> Park {
        let records = self.take_failures();
        let state = self.state();
        let waits = state.pending.waits();
        let (mut due_at, mut wakes, mut records): (Option<DateTime<Utc>>, Vec<Wait>, Vec<StepWrite>) =
            (None, Vec::new(), records);
        for pend in waits {
            due_at = due_at.into_iter().chain(pend.due).min();
            records.extend(pend.record.clone());
            if let On::Wake(wake) = &pend.on {
                wakes.push(wake.clone());
            }
        }
        Park { due_at, waits: wakes, records, reason: None, keep: Keep::DEFAULT }
    }

    /// A park for a reason, until so long from now or somebody answers.
    pub(crate) fn park_for(&self, reason: RecordedFailure, again: Option<Duration>) -> Park {
        let due_at = again.map(|wait| crate::clock::after(self.now(), wait));
        Park { due_at, waits: Vec::new(), records: self.take_failures(), reason: Some(reason), keep: Keep::DEFAULT }
    }

    /// Looks again and again for what the body waits for, while it does something else as well.
    pub(super) fn attend(&self) -> BoxFuture<'static, ()> {
        let run = self.clone();
        task(async move {
            loop {
                tokio::time::sleep(run.next_look()).await;
                run.record_times().await;
                run.look_around().await;
            }
        })
    }

    fn next_look(&self) -> Duration {
        let now = self.now();
        let state = self.state();
        let due = state.pending.waits().filter_map(|pend| pend.due).min();
        due.map_or(LOOK, |due| (due - now).to_std().unwrap_or_default().clamp(Duration::from_millis(1), LOOK))
    }

    /// Records the times of sleeps and waits that go on beside something else: whatever interrupts the run before it is
    /// parked, they do not begin anew.
    async fn record_times(&self) {
        let _busy = self.busy();
        let open: Vec<StepWrite> = {
            let state = self.state();
            let timed = state.pending.waits().filter(|pend| pend.due.is_some());
            let open = timed.filter_map(|pend| pend.record.as_ref());
            open.filter(|record| !state.records.contains_key(&record.id)).cloned().collect()
        };
        for record in open {
            let _ = self.write(record).await;
        }
    }

    async fn look_around(&self) {
        let children = self.state().pending.children();
        if !children.is_empty()
            && let Ok(records) = self.driver().steps(self.job()).await
        {
            let mut state = self.state();
            for record in records.into_iter().filter(|record| record.child.is_some()) {
                state.records.insert(record.id.clone(), record);
            }
        }
        let now = self.now();
        let mut state = self.state();
        let told = state.pending.wake(|pend| match &pend.on {
            On::Halt => false,
            On::Time => pend.due.is_some_and(|due| due <= now),
            On::Wake(_) => true,
        });
        drop(state);
        told.into_iter().for_each(Waker::wake);
    }

    /// Reads from the store, again if it does not answer. A store that stays away hands the run back.
    pub(super) async fn look<T, F>(&self, read: impl Fn() -> F) -> T
    where
        F: Future<Output = Result<T, Error>>,
    {
        for tries in 0.. {
            match read().await {
                Ok(found) => return found,
                Err(error) if tries >= TRIES => {
                    tracing::warn!(event = crate::logged::RUN_UNREADABLE, %error, "the run goes back: the store does not answer");
                    break;
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(50 << tries)).await,
            }
        }
        self.stop_here(Stopped::HandBack(LOOK)).await
    }
}
