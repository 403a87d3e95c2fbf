//! What an unwinding says in the log.

use crate::world::{Fault, World, act, harness, to_its_end, undo};
use jobs::prelude::*;
use std::{
    io::Write,
    sync::{Arc, Mutex},
};
use tracing_subscriber::fmt::MakeWriter;

/// All that was logged.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Sink {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Sink {
    /// The levels and names of the events about unwinding, in order.
    fn events(&self) -> Vec<String> {
        let text = String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap();
        let event = |line: &str| {
            let level = line.split_whitespace().find(|word| ["INFO", "WARN", "ERROR"].contains(word))?;
            let from = line.find("jobs.unwind.")?;
            let name = line[from..].split(|c: char| c.is_whitespace() || c == '"').next()?;
            Some(format!("{level} {name}"))
        };
        text.lines().filter_map(event).collect()
    }
}

#[job(tenant = none, retry(max_attempts = 2, backoff = fixed("5s")))]
async fn logs(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    step!(ctx, "a", async { act(ctx, "a").await }).await?;
    compensate!(ctx, "a", async move |ctx| { undo(ctx, "a").await });
    Err(Failure::terminal("no room"))
}

#[tokio::test]
async fn the_begin_each_try_and_the_end_of_an_unwinding_are_logged() {
    let sink = Sink::default();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(sink.clone()).finish();
    let _logged = tracing::subscriber::set_default(subscriber);
    let world = World::default().fault("undo a", Fault::Fail, 1);
    let app = harness(&world);
    let run = app.run::<logs>(()).await;
    assert_eq!(sink.events(), ["WARN jobs.unwind.started", "WARN jobs.unwind.retried"]);
    to_its_end(&app, run.job).await;
    assert_eq!(sink.events(), ["WARN jobs.unwind.completed"], "it is begun once, however many claims it takes");

    let world = World::default().fault("undo a", Fault::Fail, 2);
    let app = harness(&world);
    let run = app.run::<logs>(()).await;
    to_its_end(&app, run.job).await;
    let all = ["WARN jobs.unwind.started", "WARN jobs.unwind.retried", "ERROR jobs.unwind.failed"];
    assert_eq!(sink.events(), all);
}
