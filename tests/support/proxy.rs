//! Stands between a client and its server and fails as networks do.
//! Runs on a thread of its own, so that it goes on when a test blocks its runtime.

use super::server;
use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{ReadHalf, WriteHalf},
    },
    sync::watch,
};

/// What a connection suffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// Each piece of data arrives this much later.
    Delay(Duration),
    /// No data arrives and the connection stays open: the other side is told nothing.
    BlackHole,
    /// The connection is closed after this many more bytes from the server.
    CutAfter(usize),
    /// The connection is reset (RST).
    Reset,
}

/// A proxy in front of a server.
pub(crate) struct Proxy {
    address: SocketAddr,
    url: String,
    state: Arc<State>,
    stop: watch::Sender<bool>,
}

struct State {
    open: Mutex<Vec<Open>>,
    coming: Mutex<Fault>,
    accepted: AtomicUsize,
}

struct Open {
    /// What the client sent first: a Postgres client names itself there.
    greeting: Vec<u8>,
    fault: watch::Sender<Fault>,
}

impl Proxy {
    /// A proxy in front of the server that the URL names.
    pub(crate) fn before(url: &str) -> Self {
        let upstream = server::address(url).to_owned();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a loopback port is free");
        listener.set_nonblocking(true).expect("a listener can be non-blocking");
        let address = listener.local_addr().expect("a bound listener has an address");
        let state =
            Arc::new(State { open: Mutex::default(), coming: Mutex::new(Fault::None), accepted: AtomicUsize::new(0) });
        let (stop, mut stopped) = watch::channel(false);
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime starts").block_on(async move {
                tokio::select! {
                    () = accept(listener, &upstream, &shared) => {}
                    _ = stopped.wait_for(|stop| *stop) => {}
                }
            });
        });
        let url = url.replacen(server::address(url), &address.to_string(), 1);
        Self { address, url, state, stop }
    }

    /// The URL of the database behind the proxy.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The proxy's own address.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many connections it has accepted so far.
    pub(crate) fn accepted(&self) -> usize {
        self.state.accepted.load(Ordering::Relaxed)
    }

    /// Makes open connections and coming ones suffer the fault.
    pub(crate) fn fail_all(&self, fault: Fault) {
        self.fail_coming(fault);
        self.fail_open(fault);
    }

    /// Makes the connections that are open now suffer the fault; coming ones are spared.
    pub(crate) fn fail_open(&self, fault: Fault) {
        let mut open = self.state.open.lock().expect("no holder panics");
        open.retain(|connection| connection.fault.send(fault).is_ok());
    }

    /// Makes the open connections suffer the fault whose `application_name` holds this text; the others are spared.
    pub(crate) fn fail_named(&self, application: &str, fault: Fault) {
        let mut open = self.state.open.lock().expect("no holder panics");
        let is_named =
            |open: &Open| open.greeting.windows(application.len()).any(|text| text == application.as_bytes());
        open.retain(|connection| !is_named(connection) || connection.fault.send(fault).is_ok());
    }

    /// Makes coming connections suffer the fault; open ones are spared.
    pub(crate) fn fail_coming(&self, fault: Fault) {
        *self.state.coming.lock().expect("no holder panics") = fault;
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
    }
}

async fn accept(listener: std::net::TcpListener, upstream: &str, state: &Arc<State>) {
    let listener = TcpListener::from_std(listener).expect("the runtime takes the listener");
    loop {
        let Ok((client, _)) = listener.accept().await else { continue };
        state.accepted.fetch_add(1, Ordering::Relaxed);
        let (sender, fault) = watch::channel(*state.coming.lock().expect("no holder panics"));
        let (state, upstream) = (Arc::clone(state), upstream.to_owned());
        tokio::spawn(async move {
            let mut greeting = vec![0; 1024];
            let length = client.peek(&mut greeting).await.unwrap_or(0);
            greeting.truncate(length);
            state.open.lock().expect("no holder panics").push(Open { greeting, fault: sender });
            serve(client, upstream, fault).await;
        });
    }
}

async fn serve(mut client: TcpStream, upstream: String, mut fault: watch::Receiver<Fault>) {
    // A server that is down refuses, and so does its proxy.
    let Ok(mut server) = TcpStream::connect(&upstream).await else { return reset(&client) };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    {
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        let to_the_server = pump(from_client, to_server, fault.clone(), false);
        let to_the_client = pump(from_server, to_client, fault.clone(), true);
        tokio::select! {
            () = to_the_server => {}
            () = to_the_client => {}
            _ = fault.wait_for(|fault| *fault == Fault::Reset) => {}
        }
    }
    if *fault.borrow() == Fault::Reset {
        reset(&client);
        reset(&server);
    }
}

/// Passes data on in one direction until either side closes or the fault ends the connection.
async fn pump(mut from: ReadHalf<'_>, mut to: WriteHalf<'_>, mut fault: watch::Receiver<Fault>, from_server: bool) {
    let mut buffer = vec![0; 16 * 1024];
    let mut cut: Option<usize> = None;
    while let Ok(mut length @ 1..) = from.read(&mut buffer).await {
        let Ok(now) = fault.wait_for(|fault| *fault != Fault::BlackHole).await.map(|fault| *fault) else { return };
        match now {
            Fault::Delay(delay) => tokio::time::sleep(delay).await,
            Fault::CutAfter(bytes) if from_server => {
                let left = cut.get_or_insert(bytes);
                length = length.min(*left);
                *left -= length;
            }
            Fault::Reset => return,
            Fault::None | Fault::BlackHole | Fault::CutAfter(_) => {}
        }
        if to.write_all(&buffer[..length]).await.is_err() || cut == Some(0) {
            return;
        }
    }
}

/// Makes the close of the stream a reset.
fn reset(stream: &TcpStream) {
    let _ = stream.set_zero_linger();
}
