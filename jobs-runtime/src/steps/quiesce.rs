//! Polls a body until it returns or does nothing but wait. Upstream: `execute`. Downstream: `pend`.
//!
//! A body that is pending on durable waits alone is let go of. That nothing else will wake it is told by its waker: each
//! poll uses a fresh one, so that every clone of it which none of our own waits holds belongs to something else that the
//! body awaits.

use super::{
    pend,
    run::{Run, Stopped},
};
use crate::{cancel::CancelReason, driver::Park, execute::panic, logged};
use futures_util::future::BoxFuture;
use std::{
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering, fence},
    },
    task::{Context, Poll, Wake, Waker},
};

/// How a body was found.
#[derive(Debug)]
pub(crate) enum Driven<R> {
    /// It returned.
    Returned(R),
    /// It does nothing but wait, for this.
    Waits(Park),
    /// It is not to go on: of a run that is cancelled or only replays.
    Halted,
    /// It is not to be polled any more.
    Stopped(Stopped),
}

/// A body that is polled for its run.
pub(crate) struct Quiesce<R> {
    body: Option<BoxFuture<'static, R>>,
    run: Run,
    attend: Option<BoxFuture<'static, ()>>,
}

/// The waker of one poll.
struct Root {
    outer: Waker,
    woken: AtomicBool,
}

impl Wake for Root {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.outer.wake_by_ref();
    }
}

impl<R> Quiesce<R> {
    pub(crate) fn new(body: BoxFuture<'static, R>, run: Run) -> Self {
        Self { body: Some(body), run, attend: None }
    }

    /// Polls the body until it returns, waits or stops. One that waits can be polled further.
    pub(crate) async fn settle(&mut self) -> Driven<R> {
        poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Driven<R>> {
        let Some(body) = &mut self.body else { return Poll::Ready(Driven::Halted) };
        let root = Arc::new(Root { outer: cx.waker().clone(), woken: AtomicBool::new(false) });
        let waker = Waker::from(Arc::clone(&root));
        self.run.state().pending.root = pend::address(&waker);
        let polled = body.as_mut().poll(&mut Context::from_waker(&waker));
        drop(waker);
        if let Poll::Ready(returned) = polled {
            self.attend = None;
            self.body = None;
            return Poll::Ready(match self.run.state().stop.take() {
                Some(stop) => Driven::Stopped(stop),
                None => Driven::Returned(returned),
            });
        }
        self.look(&root, cx)
    }

    /// Judges a pending body.
    fn look(&mut self, root: &Arc<Root>, cx: &mut Context<'_>) -> Poll<Driven<R>> {
        let (stops, busy, census) = {
            let state = self.run.state();
            (state.stop.is_some().then_some(state.stuck), state.busy, state.pending.census())
        };
        // What else is under way ends first, for a step may not be one to break off; but not once the claim is gone.
        let is_gone = || self.run.cancel().reason() == Some(CancelReason::LeaseLost);
        if let Some(stuck) = stops
            && (busy <= stuck || is_gone())
        {
            let stop = self.run.state().stop.take();
            if matches!(stop, Some(Stopped::Park(..))) {
                self.run.keep_times();
            }
            if let Some(stop) = stop {
                return Poll::Ready(Driven::Stopped(stop));
            }
        }
        let others = Arc::strong_count(root).saturating_sub(1 + census.kept);
        // Whoever let go of a waker has told before that it woke us.
        fence(Ordering::Acquire);
        let is_alone = others == 0 || census.unrooted;
        if busy == 0 && is_alone && !root.woken.load(Ordering::Acquire) && census.waits + census.halted > 0 {
            self.attend = None;
            let waits = census.waits > 0 && census.halted == 0;
            return Poll::Ready(if waits { Driven::Waits(self.run.park()) } else { Driven::Halted });
        }
        if census.waits == 0 {
            self.attend = None;
        } else {
            let run = &self.run;
            let _ = self.attend.get_or_insert_with(|| run.attend()).as_mut().poll(cx);
        }
        Poll::Pending
    }

    /// Lets go of the body. A panic of what it drops is told and goes no further.
    pub(crate) fn let_go(self) {
        let Self { body, attend, .. } = self;
        drop(attend);
        if let Err(text) = panic::guard(|| drop(body)) {
            tracing::error!(event = logged::RUN_DROP_PANICKED, text, "the body panicked while it was let go of");
        }
    }
}
