//! The tests' own tools do what the tests rely on.

mod support;

use sqlx::Connection;
use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};
use support::{Cluster, Db, Fault, Proxy, eventually, role};

/// A server that sends back what it gets, behind a proxy.
fn echo() -> Proxy {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("tcp://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            thread::spawn(move || std::io::copy(&mut client.try_clone().unwrap(), &mut client));
        }
    });
    Proxy::before(&url)
}

fn connect(proxy: &Proxy) -> TcpStream {
    let client = TcpStream::connect(proxy.address()).unwrap();
    client.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    client
}

fn ask(client: &mut TcpStream, text: &str) -> std::io::Result<String> {
    client.write_all(text.as_bytes())?;
    let mut answer = vec![0; text.len()];
    client.read_exact(&mut answer)?;
    Ok(String::from_utf8(answer).unwrap())
}

#[test]
fn the_proxy_passes_data_on() {
    let proxy = echo();
    let mut client = connect(&proxy);
    assert_eq!(ask(&mut client, "hello").unwrap(), "hello");
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.read(&mut [0]).unwrap(), 0, "a close is passed on");
    assert_eq!(proxy.accepted(), 1);
}

#[test]
fn a_black_hole_keeps_the_connection_and_gives_the_data_when_it_ends() {
    let proxy = echo();
    let mut client = connect(&proxy);
    ask(&mut client, "hello").unwrap();
    proxy.fail_open(Fault::BlackHole);
    let silence = ask(&mut client, "are you there").unwrap_err();
    assert!(matches!(silence.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut), "{silence}");
    assert_eq!(ask(&mut connect(&proxy), "new").unwrap(), "new", "coming connections are spared");
    proxy.fail_open(Fault::None);
    let mut late = [0; 13];
    client.read_exact(&mut late).unwrap();
    assert_eq!(&late, b"are you there");
}

#[test]
fn a_reset_is_a_reset() {
    let proxy = echo();
    let mut client = connect(&proxy);
    ask(&mut client, "hello").unwrap();
    proxy.fail_open(Fault::Reset);
    let cut = client.read(&mut [0]).unwrap_err();
    assert_eq!(cut.kind(), std::io::ErrorKind::ConnectionReset, "{cut}");
}

#[test]
fn a_cut_lets_so_many_bytes_pass_and_no_more() {
    let proxy = echo();
    proxy.fail_coming(Fault::CutAfter(3));
    let mut client = connect(&proxy);
    client.write_all(b"hello").unwrap();
    let mut all = Vec::new();
    client.read_to_end(&mut all).unwrap();
    assert_eq!(all, b"hel");
}

#[test]
fn a_delay_delays() {
    let proxy = echo();
    proxy.fail_all(Fault::Delay(Duration::from_millis(60)));
    let start = Instant::now();
    ask(&mut connect(&proxy), "hello").unwrap();
    assert!(start.elapsed() >= Duration::from_millis(120), "there and back");
}

fn worker() {
    println!("ready {}", std::env::var("GREETING").unwrap());
    thread::park();
}

#[test]
fn a_process_is_stopped_continued_and_killed() {
    let role = role!("worker", worker);
    let mut process = role.start(&[("GREETING", "hello")]);
    assert_eq!(process.line("ready"), "hello");
    process.stop();
    process.resume();
    assert!(process.is_running());
    assert_eq!(process.kill().code(), None, "ended by a signal");
}

fn owner_of_a_database() {
    let db = Db::empty();
    println!("ready {}", db.name());
    thread::park();
}

#[tokio::test]
async fn a_database_is_removed_with_its_test_and_when_its_process_was_killed() {
    let role = role!("owner", owner_of_a_database);
    let db = Db::empty();
    let mut admin = sqlx::PgConnection::connect(&std::env::var("DATABASE_URL").unwrap()).await.unwrap();
    let mut exists = async |name: &str| -> bool {
        let query = sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)");
        query.bind(name).fetch_one(&mut admin).await.unwrap()
    };

    let mut owner = role.start(&[]);
    let orphan = owner.line("ready");
    assert!(exists(&orphan).await);
    owner.kill();
    // Its server process ends, and gives the lock back, shortly after its client has.
    let limit = Instant::now() + Duration::from_secs(20);
    while exists(&orphan).await {
        assert!(Instant::now() < limit, "the orphan was not removed");
        drop(Db::empty());
    }

    let name = db.name().to_owned();
    assert!(exists(&name).await);
    drop(db);
    assert!(!exists(&name).await);
}

#[tokio::test]
async fn a_cluster_comes_back_from_a_crash_with_what_was_committed() {
    let cluster = Cluster::start();
    let pool = support::pool(&cluster.url(), 2).await;
    sqlx::raw_sql("CREATE TABLE kept (n int); INSERT INTO kept VALUES (42)").execute(&pool).await.unwrap();
    cluster.crash();
    let kept = eventually("the pool reconnects", async || {
        sqlx::query_scalar::<_, i32>("SELECT n FROM kept").fetch_one(&pool).await.ok()
    });
    assert_eq!(kept.await, 42);
}
