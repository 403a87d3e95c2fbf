//! What a body waits for while it stays pending. Upstream: `sleep`, `wait`, `child`. Downstream: `quiesce`, which lets go
//! of a body that does nothing else.

use super::run::Run;
use crate::{
    driver::{StepWrite, Wait},
    id::JobId,
};
use chrono::{DateTime, Utc};
use std::{
    collections::BTreeMap,
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
};

/// What something waits for.
#[derive(Debug, Clone)]
pub(super) enum On {
    /// Its time alone.
    Time,
    /// An event, or a child's end.
    Wake(Wait),
    /// Nothing: it is not to go on in this run.
    Halt,
}

/// Something that waits.
pub(super) struct Pend {
    pub(super) on: On,
    pub(super) due: Option<DateTime<Utc>>,
    /// The record to be written when the run is parked, if there is none yet.
    pub(super) record: Option<StepWrite>,
    waker: Waker,
    /// Whether it was polled with the body's own waker, so that wakers of others can be told from ours.
    rooted: bool,
    woken: bool,
}

/// All that waits.
#[derive(Default)]
pub(super) struct Pending {
    entries: BTreeMap<u64, Pend>,
    next: u64,
    /// The waker that the body is being polled with.
    pub(super) root: usize,
}

/// How many of what kind wait.
#[derive(Debug, Default)]
pub(super) struct Census {
    pub(super) waits: usize,
    pub(super) halted: usize,
    /// How many hold the body's present waker.
    pub(super) kept: usize,
    /// Whether some were polled with a waker of somebody else's.
    pub(super) unrooted: bool,
}

impl Pending {
    pub(super) fn census(&self) -> Census {
        let mut census = Census::default();
        for pend in self.entries.values() {
            match pend.on {
                On::Halt => census.halted += 1,
                On::Time | On::Wake(_) => census.waits += 1,
            }
            census.kept += usize::from(address(&pend.waker) == self.root);
            census.unrooted |= !pend.rooted;
        }
        census
    }

    /// What waits for something, not what is halted.
    pub(super) fn waits(&self) -> impl Iterator<Item = &Pend> {
        self.entries.values().filter(|pend| !matches!(pend.on, On::Halt))
    }

    /// Has those look again that are told. Answers their wakers, to be called outside of the lock.
    pub(super) fn wake(&mut self, tell: impl Fn(&Pend) -> bool) -> Vec<Waker> {
        let told = self.entries.values_mut().filter(|pend| tell(pend));
        told.map(|pend| {
            pend.woken = true;
            pend.waker.clone()
        })
        .collect()
    }

    /// The children that are waited for.
    pub(super) fn children(&self) -> Vec<JobId> {
        let child = |pend: &Pend| match pend.on {
            On::Wake(Wait::Child(child)) => Some(child),
            _ => None,
        };
        self.entries.values().filter_map(child).collect()
    }
}

/// The address of what a waker wakes.
pub(super) fn address(waker: &Waker) -> usize {
    waker.data().addr()
}

/// Waits until it is told to look again. Dropped, it waits no more.
pub(super) struct Pause {
    run: Run,
    slot: Option<u64>,
    what: Option<(On, Option<DateTime<Utc>>, Option<StepWrite>)>,
}

impl Run {
    /// Waits for its time or for what wakes it; then it is to look again.
    pub(super) fn pause(&self, on: On, due: Option<DateTime<Utc>>, record: Option<StepWrite>) -> Pause {
        Pause { run: self.clone(), slot: None, what: Some((on, due, record)) }
    }

    /// Stays pending, until the incomplete steps of an unwinding run are released.
    pub(super) fn halt(&self) -> Pause {
        self.pause(On::Halt, None, None)
    }
}

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let run = self.run.clone();
        let mut state = run.state();
        let rooted = address(cx.waker()) == state.pending.root;
        let waker = cx.waker().clone();
        let former = match (self.slot, self.what.take()) {
            (_, Some((on, due, record))) => {
                let slot = state.pending.next;
                state.pending.next += 1;
                state.pending.entries.insert(slot, Pend { on, due, record, waker, rooted, woken: false });
                self.slot = Some(slot);
                None
            }
            (Some(slot), None) => match state.pending.entries.get_mut(&slot) {
                Some(pend) if !pend.woken => {
                    pend.rooted = rooted;
                    Some(std::mem::replace(&mut pend.waker, waker))
                }
                _ => {
                    let gone = state.pending.entries.remove(&slot);
                    self.slot = None;
                    drop(state);
                    drop(gone);
                    return Poll::Ready(());
                }
            },
            (None, None) => return Poll::Ready(()),
        };
        // Outside of the lock: a waker's end may be the end of what it wakes.
        drop(state);
        drop(former);
        Poll::Pending
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            let gone = self.run.state().pending.entries.remove(&slot);
            drop(gone);
        }
    }
}
