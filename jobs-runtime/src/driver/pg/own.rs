//! The driver's own connections: few, opened when they are needed, thrown away when in doubt.
//! Upstream: `connect`. Downstream: `session`.
//!
//! Not sqlx's pool: that asks every connection that comes back whether it is well, and waits for the answer. It costs a
//! round trip per statement, and a connection that the network has swallowed keeps its place for good.

use sqlx::{Connection, Error, PgConnection, postgres::PgConnectOptions};
use std::{
    fmt, io,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, timeout},
};

/// The longest wait for a place.
const PLACE: Duration = Duration::from_secs(10);
/// The longest wait for a new connection.
const CONNECT: Duration = Duration::from_secs(5);
/// A connection is used no longer than this, so that its server process does not grow old.
const LIFETIME: Duration = Duration::from_secs(30 * 60);

/// A bounded set of connections.
pub(super) struct Own {
    options: PgConnectOptions,
    /// What is sent on each new connection.
    settings: Option<&'static str>,
    places: Semaphore,
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    connection: PgConnection,
    opened: Instant,
}

/// A connection that is out. Dropped, it is closed: whether its server still answers is not known then.
#[derive(Debug)]
pub(super) struct Lent<'a> {
    pub(super) connection: PgConnection,
    opened: Instant,
    own: &'a Own,
    _place: SemaphorePermit<'a>,
}

impl Own {
    pub(super) fn new(options: PgConnectOptions, settings: Option<&'static str>, size: u32) -> Self {
        Self { options, settings, places: Semaphore::new(size as usize), idle: Mutex::default() }
    }

    pub(super) async fn lend(&self) -> Result<Lent<'_>, Error> {
        let place = timeout(PLACE, self.places.acquire()).await.map_err(|_| Error::PoolTimedOut)?;
        let place = place.map_err(|_| Error::PoolClosed)?;
        let idle = self.lock().pop();
        let (connection, opened) = match idle {
            Some(Idle { connection, opened }) => (connection, opened),
            None => (connect(&self.options, self.settings).await?, Instant::now()),
        };
        Ok(Lent { connection, opened, own: self, _place: place })
    }

    /// Closes the idle connections: what befell one of them has most likely befallen all.
    pub(super) fn forget_idle(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lent<'_> {
    /// Keeps the connection for the next one who needs it.
    pub(super) fn give_back(self) {
        let Self { connection, opened, own, _place } = self;
        if opened.elapsed() < LIFETIME {
            own.lock().push(Idle { connection, opened });
        }
    }
}

/// Without the connect options, which hold the password.
impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} places, {} idle", self.places.available_permits(), self.lock().len())
    }
}

/// Opens a connection, within 5 s or not at all.
pub(super) async fn connect(options: &PgConnectOptions, settings: Option<&'static str>) -> Result<PgConnection, Error> {
    let connecting = async {
        let mut connection = PgConnection::connect_with(options).await?;
        if let Some(settings) = settings {
            sqlx::raw_sql(settings).execute(&mut connection).await?;
        }
        Ok(connection)
    };
    timeout(CONNECT, connecting).await.map_err(|_| timed_out())?
}

/// What a call comes to that was not answered in time.
pub(super) fn timed_out() -> Error {
    Error::Io(io::ErrorKind::TimedOut.into())
}
