//! Listens for hints on a connection of its own and proves by probes that they arrive.
//! Upstream: enqueues, promotions, cancels. Downstream: `worker`.
//!
//! A listener can be dead without knowing: behind a pooler that shares server connections, or on a socket whose other
//! end has gone. So it counts as live only while its own probe, sent on another connection, comes back. Once it is live
//! its probes ride on the workers' looks, so that they cost no statement of their own.

use super::{Pg, ask::Ask, fault, own::Own, session::Sessions};
use crate::{
    driver::{Hint, Hints, WorkerId},
    error::Error,
    id::JobId,
    task::task,
};
use futures_util::future::BoxFuture;
use sqlx::{
    Executor, SqlStr,
    postgres::{PgConnectOptions, PgListener, PgPoolOptions},
};
use std::{
    collections::HashSet,
    convert::Infallible,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{mpsc, watch},
    task::{JoinHandle, JoinSet},
    time::{Instant, interval_at, sleep, timeout},
};

/// How often a probe is due. One that was sent and has not come back by the next ends the connection.
const PROBE: Duration = Duration::from_secs(10);
/// How long it may take to send one.
const SENDING: Duration = Duration::from_secs(3);
/// The waits between connections: from, to.
const RECONNECT: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(30));
/// How many hints wait to be read. When more come, one `All` stands for those that were dropped.
const BUFFER: usize = 256;
/// The longest payload of ours: a letter and a queue's name, or a letter, a worker and a job.
const MAX_PAYLOAD: usize = 128;

/// What an event tells all workers that was published in a transaction which could not see the waits.
const UNWOKEN: &str = "w";

struct Subscription {
    hints: mpsc::Receiver<Hint>,
    nudges: watch::Receiver<u64>,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    live: AtomicBool,
    overflowed: AtomicBool,
}

pub(super) async fn open(pg: &Pg, worker: WorkerId, queues: Vec<String>) -> Result<Box<dyn Hints>, Error> {
    let nudges = pg.nudges.subscribe();
    if pg.is_pooled() {
        return Ok(Box::new(Silence(nudges)));
    }
    let (sender, hints) = mpsc::channel(BUFFER);
    let shared = Arc::new(Shared::default());
    let listener = Listener {
        options: pg.connect_options("listen"),
        own: Arc::clone(pg.own_connections()),
        notify: pg.sql.notify.clone(),
        channel: pg.channel.clone(),
        asked: format!("{}:", worker.0),
        queues: queues.into_iter().collect(),
        probes: Arc::clone(&pg.probes),
        sender,
        shared: Arc::clone(&shared),
    };
    Ok(Box::new(Subscription { hints, nudges, shared, task: tokio::spawn(task(listener.run())) }))
}

/// The probes that wait for a look to carry them.
#[derive(Debug, Default)]
pub(super) struct Probes(Mutex<Vec<String>>);

impl Probes {
    /// Takes them all along.
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lock())
    }

    fn wait(&self, probe: String) {
        self.lock().push(probe);
    }

    /// Takes back one that nothing has carried, and says whether there was one.
    fn withdraw(&self, probe: &str) -> bool {
        let mut waiting = self.lock();
        let at = waiting.iter().position(|waits| waits == probe);
        at.map(|at| waiting.swap_remove(at)).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hints for Subscription {
    fn next(&mut self) -> BoxFuture<'_, Hint> {
        Box::pin(async move {
            if self.shared.overflowed.swap(false, Ordering::AcqRel) {
                while self.hints.try_recv().is_ok() {}
                return Hint::All;
            }
            let told = async {
                match self.hints.recv().await {
                    Some(hint) => hint,
                    // The listener never ends by itself; if it was torn down with its runtime, no hint will come.
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                hint = told => hint,
                hint = nudge(&mut self.nudges) => hint,
            }
        })
    }

    fn is_live(&self) -> bool {
        self.shared.live.load(Ordering::Acquire) && !self.task.is_finished()
    }
}

/// What this process itself has to tell: a park of its own that could not see all events.
async fn nudge(nudges: &mut watch::Receiver<u64>) -> Hint {
    match nudges.changed().await {
        Ok(()) => Hint::Unwoken,
        Err(_) => std::future::pending().await,
    }
}

/// Behind a pooler that lends server connections for one transaction each, a LISTEN would stay on a connection of
/// somebody else's.
struct Silence(watch::Receiver<u64>);

impl Hints for Silence {
    fn next(&mut self) -> BoxFuture<'_, Hint> {
        Box::pin(nudge(&mut self.0))
    }

    fn is_live(&self) -> bool {
        false
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Listener {
    options: PgConnectOptions,
    own: Arc<Own>,
    notify: SqlStr,
    channel: String,
    /// What the name of a job of this worker's begins with.
    asked: String,
    queues: HashSet<String>,
    probes: Arc<Probes>,
    sender: mpsc::Sender<Hint>,
    shared: Arc<Shared>,
}

impl Listener {
    async fn run(self) {
        let (mut wait, longest) = RECONNECT;
        loop {
            let (Err(error), was_live) = (self.listen().await, self.shared.live.swap(false, Ordering::AcqRel));
            tracing::debug!(name: "jobs.hints.lost", error = %fault::store("listen for hints")(error), "hints are lost");
            wait = if was_live { RECONNECT.0 } else { (wait * 2).min(longest) };
            sleep(wait.mul_f64(0.5 + fastrand::f64())).await;
        }
    }

    /// Listens until the connection is lost.
    async fn listen(&self) -> Result<Infallible, sqlx::Error> {
        // A pool of one: what sqlx's listener is made from.
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .max_lifetime(None)
            .idle_timeout(None)
            .acquire_timeout(PROBE)
            // A listener is idle for as long as nothing happens.
            .after_connect(|connection, _| {
                Box::pin(async move { connection.execute("SET idle_session_timeout = 0").await.map(drop) })
            })
            .connect_lazy_with(self.options.clone());
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.eager_reconnect(false);
        timeout(PROBE, listener.listen(&self.channel)).await.unwrap_or_else(|_| Err(lost()))?;
        let mut probes = interval_at(Instant::now(), PROBE);
        let mut sending = JoinSet::new();
        let mut awaited: Option<String> = None;
        loop {
            tokio::select! {
                received = listener.try_recv() => match received? {
                    Some(message) if awaited.as_deref() == Some(message.payload()) => {
                        awaited = None;
                        if !self.shared.live.swap(true, Ordering::AcqRel) {
                            // What came before the listener was proven may have been lost.
                            self.tell(Hint::All);
                        }
                    }
                    Some(message) => {
                        if let Some(hint) = self.parse(message.payload()) {
                            self.tell(hint);
                        }
                    }
                    None => return Err(lost()),
                },
                _ = probes.tick() => {
                    let probe = match awaited.take() {
                        // No look came by: the same probe is sent after all.
                        Some(probe) if self.probes.withdraw(&probe) => probe,
                        Some(_) => return Err(lost()),
                        None => {
                            let probe = format!("p{:032x}", fastrand::u128(..));
                            if self.shared.live.load(Ordering::Acquire) {
                                self.probes.wait(probe.clone());
                                awaited = Some(probe);
                                continue;
                            }
                            probe
                        }
                    };
                    sending.abort_all();
                    let (own, notify, channel) = (Arc::clone(&self.own), self.notify.clone(), self.channel.clone());
                    sending.spawn(task(send(own, notify, channel, probe.clone())));
                    awaited = Some(probe);
                }
            }
        }
    }

    fn tell(&self, hint: Hint) {
        if self.sender.try_send(hint).is_err() {
            self.shared.overflowed.store(true, Ordering::Release);
        }
    }

    /// Reads a payload; `None` for what is not for this worker or not ours at all.
    fn parse(&self, payload: &str) -> Option<Hint> {
        if payload.len() > MAX_PAYLOAD {
            return None;
        }
        if let Some(queue) = payload.strip_prefix('q') {
            return self.queues.contains(queue).then(|| Hint::Queue(queue.to_owned()));
        }
        if payload == UNWOKEN {
            return Some(Hint::Unwoken);
        }
        let (hint, rest): (fn(JobId) -> Hint, _) = match payload.strip_prefix('c') {
            Some(rest) => (Hint::Cancel, rest),
            None => (Hint::RollBack, payload.strip_prefix('r')?),
        };
        rest.strip_prefix(&self.asked)?.parse().ok().map(hint)
    }
}

/// Sends a probe. If that fails the probe does not come back, which is all there is to say.
async fn send(own: Arc<Own>, notify: SqlStr, channel: String, probe: String) {
    let sent = sqlx::query(notify).bind(channel).bind(probe).execute_on(Sessions::own(&own, false, None));
    if timeout(SENDING, sent).await.is_err() {
        own.forget_idle();
    }
}

fn lost() -> sqlx::Error {
    sqlx::Error::Io(std::io::ErrorKind::ConnectionAborted.into())
}
