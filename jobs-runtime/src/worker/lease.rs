//! Keeps the lease on a thread and runtime of its own, so that jobs which block every thread of theirs do not lose it.
//! Upstream: `life`. Downstream: `driver`.

use super::life::Life;
use crate::{
    cancel::CancelReason,
    driver::{Lease, LeaseSession},
    error::{Error, code},
    execute::panic,
    logged,
};
use futures_util::FutureExt;
use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};
use tokio::{
    sync::oneshot,
    task::JoinHandle,
    time::{sleep, timeout, timeout_at},
};

/// The wait before a renewal that failed is tried again, at most a tenth of the lease.
const AGAIN: Duration = Duration::from_secs(1);

/// The longest that a body which blocks may keep the runtime's other threads from their work.
const STIR: Duration = Duration::from_millis(250);

/// How long before the lease's end a worker gives it up: a sixth of it. Its runs must be gone by the end.
pub(super) fn margin(lease: Lease) -> Duration {
    lease.duration / 6
}

/// The running lease. Dropped, it is not renewed any more.
pub(super) struct Held {
    _stop: oneshot::Sender<()>,
    thread_ended: oneshot::Receiver<()>,
}

impl Held {
    /// Ends the renewals.
    pub(super) async fn end(self) {
        let Self { _stop, thread_ended } = self;
        drop(_stop);
        let _ = thread_ended.await;
    }
}

/// Renews the lease, which began no earlier than `began`, until the answer is dropped or the lease is lost.
///
/// # Errors
/// `X_INTERNAL` if the thread cannot be made.
pub(super) fn hold(life: &Arc<Life>, began: Instant) -> Result<Held, Error> {
    let (stop, stopped) = oneshot::channel();
    let (ended, thread_ended) = oneshot::channel();
    let failed = |error: std::io::Error| {
        Error::new(code::INTERNAL, format!("the lease's thread could not begin: {error}")).with_source(error)
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let life = Arc::downgrade(life);
    let renew = move || {
        runtime.block_on(async {
            tokio::select! {
                // The sender is gone with the worker's own task, also where its whole runtime was shut down.
                _ = stopped => {}
                () = keep(&life, began) => {}
                () = stir(&life) => {}
            }
        });
        let _ = ended.send(());
    };
    std::thread::Builder::new().name("jobs-lease".to_owned()).spawn(renew).map_err(failed)?;
    Ok(Held { _stop: stop, thread_ended })
}

/// Wakes an idle thread of the worker's runtime now and then while jobs run.
///
/// A runtime thread that finds a single task runs it without waking another. If that is a body which blocks, nobody
/// waits for input and timers any more, though other threads are idle (tokio-rs/tokio#4730).
async fn stir(life: &Weak<Life>) {
    let mut stirred: Option<JoinHandle<()>> = None;
    loop {
        sleep(STIR).await;
        let Some(life) = life.upgrade() else { std::future::pending().await };
        if life.runs.len() > 0 && stirred.as_ref().is_none_or(JoinHandle::is_finished) {
            stirred = Some(life.stir());
        }
    }
}

/// Renews until the lease is lost, whatever fails on the way.
async fn keep(life: &Weak<Life>, began: Instant) {
    let Some(lease) = life.upgrade().map(|life| life.shared.plan.lease) else { return };
    let mut deadline = began + lease.duration.saturating_sub(margin(lease));
    let lost = loop {
        let renewing = AssertUnwindSafe(renew_until_failed(life, lease, &mut deadline)).catch_unwind().await;
        let text = match renewing {
            Ok(Renewing::Gone) => return,
            Ok(Renewing::Lost(why)) => break why,
            Ok(Renewing::Failed(error)) => error.to_string(),
            Err(payload) => format!("panic: {}", panic::text(payload)),
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let left_millis = left.as_millis() as u64;
        tracing::warn!(event = logged::LEASE_RENEWAL_FAILED, left_millis, text, "a renewal is tried again");
        if left.is_zero() {
            break "it could not be renewed in time";
        }
        sleep(AGAIN.min(lease.duration / 10).min(left).mul_f64(0.5 + fastrand::f64() / 2.0)).await;
    };
    if let Some(life) = life.upgrade() {
        life.lose(lost);
    }
}

enum Renewing {
    /// The worker is gone.
    Gone,
    /// The lease is lost, and why.
    Lost(&'static str),
    /// A session could not be opened or a renewal failed; another may succeed.
    Failed(Error),
}

/// How long until the next renewal is due: a beat after the last one that succeeded, whatever failed since.
fn until_due(lease: Lease, deadline: Instant) -> Duration {
    let renewed = deadline.checked_sub(lease.duration.saturating_sub(margin(lease)));
    renewed.map_or(Duration::ZERO, |renewed| (renewed + lease.beat).saturating_duration_since(Instant::now()))
}

/// Opens a session and renews by it, beat after beat. Each renewal moves the deadline.
async fn renew_until_failed(life: &Weak<Life>, lease: Lease, deadline: &mut Instant) -> Renewing {
    const LATE: &str = "it could not be renewed in time";
    let Some(renewable) = life.upgrade().map(|life| life.renewable.clone()) else { return Renewing::Gone };
    let session = async {
        let life = life.upgrade()?;
        Some(life.driver().lease_session(life.id).await)
    };
    let mut session: Box<dyn LeaseSession> = match timeout_at((*deadline).into(), session).await {
        Ok(Some(Ok(session))) => session,
        Ok(Some(Err(error))) => return Renewing::Failed(error),
        Ok(None) => return Renewing::Gone,
        Err(_) => return Renewing::Lost(LATE),
    };
    // No renewal may take so long that there is no time for another one on a new session.
    let patience = (lease.beat / 2).max(AGAIN);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Renewing::Lost(LATE);
        }
        let wait = until_due(lease, *deadline).min(left);
        let told = async {
            sleep(wait.min(AGAIN)).await;
            renewable.notified().await;
        };
        tokio::select! {
            () = sleep(wait) => {}
            () = told => {}
        }
        // A process that was stopped wakes here: what has lapsed meanwhile is not renewed.
        let asked = Instant::now();
        let left = deadline.saturating_duration_since(asked);
        if left.is_zero() {
            return Renewing::Lost(LATE);
        }
        match timeout(left.min(patience), session.renew()).await {
            Ok(Ok(renewed)) => {
                *deadline = asked + lease.duration.saturating_sub(margin(lease));
                let Some(life) = life.upgrade() else { return Renewing::Gone };
                life.runs.retain_asked(&[&*renewed.cancel, &*renewed.roll_back].concat());
                for (jobs, reason) in
                    [(renewed.cancel, CancelReason::Cancelled), (renewed.roll_back, CancelReason::RollBack)]
                {
                    jobs.into_iter().for_each(|job| life.cancel(job, reason));
                }
            }
            Ok(Err(error)) if error.code() == code::WORKER_LOST => {
                return Renewing::Lost("the store says that it has lapsed");
            }
            Ok(Err(error)) => return Renewing::Failed(error),
            Err(_) => {
                let text = "the store did not answer a renewal within half a beat";
                return Renewing::Failed(Error::new(code::STORE_UNAVAILABLE, text));
            }
        }
    }
}
