//! Every option, under every lint that a strict crate turns on: the expansion answers for none of them.
#![deny(
    warnings,
    missing_docs,
    unused,
    unused_qualifications,
    unused_results,
    unreachable_pub,
    single_use_lifetimes,
    missing_debug_implementations,
    missing_copy_implementations,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    trivial_casts,
    let_underscore_drop,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::absolute_paths,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_docs_in_private_items,
    clippy::items_after_statements
)]
#![expect(clippy::unused_async, reason = "a job is async")]

use jobs::{
    UniqueKey,
    backoff::{Growth, Jitter},
    prelude::*,
    serde_json::Value,
    spec::{Hold, JobSpec, Keep, OnConflict},
};
use std::{error::Error as StdError, fmt, io, time::Duration};

/// An order.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Order {
    /// Whose it is.
    org: String,
    /// Its number.
    number: u64,
    /// Where it goes.
    address: Address,
}

/// An address.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Address {
    /// The city.
    city: String,
}

/// A state.
#[derive(Debug, Clone, Copy)]
struct Bank;

/// Another state.
#[derive(Debug, Clone, Copy)]
struct Warehouse;

/// A queue by constant.
const QUEUE: &str = "orders";

/// Takes an order.
///
/// The second paragraph.
#[job(
    name = "orders.place",
    aliases = ["orders.take", "take_order"],
    version = 3,
    queue = QUEUE,
    priority = -10,
    tenant = order.org,
    unique(by = [number, address.city], for = "1h", on_conflict = reject),
    retry(max_attempts = 7, backoff = exponential("2s", max = "10m"), jitter = none),
    timeout = "2m",
    expires_after = "3d",
    keep = "30d",
    dead_letter = false,
    crash_budget = 5,
    needs(Bank, Warehouse),
    then = notify,
    on_dead = notify,
    on_settled = look_at,
    upgrade = renumber,
    schema,
    handle = PlaceOrder,
    crate = ::jobs,
    allow(nondeterminism),
)]
async fn place_order(ctx: &Ctx, order: Order) -> Result<u64, Failure> {
    let _: u32 = ctx.attempt();
    Ok(order.number)
}

/// Tells somebody.
#[job(tenant = input.tenant, keep = none, retry(backoff = linear("10s")), unique(key = input.id, while = queued))]
async fn notify(_ctx: &Ctx, input: Settled) -> Result<(), io::Error> {
    drop(input);
    Ok(())
}

/// Ticks.
#[job(tenant = none, unique, retry(backoff = fixed("5s")))]
async fn tick(_ctx: &Ctx) -> Result<(), String> {
    Ok(())
}

/// Goes away.
#[deprecated(note = "use `tick`")]
#[job(tenant = none, retry(jitter = none))]
async fn tock(_ctx: &Ctx) -> Result<(), Box<dyn StdError + Send + Sync>> {
    Ok(())
}

/// Is not there.
#[job(tenant = none)]
#[cfg(any())]
async fn never(_ctx: &Ctx, _input: Missing) -> Result<(), Failure> {}

/// What was shipped.
#[derive(Debug, Serialize, Deserialize)]
#[event(name = "order.shipped", tenant = self.org, ttl = "7d")]
struct Shipped {
    /// Whose it is.
    org: String,
}

/// Does everything that a body may do.
///
/// # Errors
/// Of its steps.
#[job(tenant = order.org)]
async fn every_construct(ctx: &Ctx, order: Order) -> Result<u64, Failure> {
    let held: u64 = step!(
        ctx,
        "hold",
        timeout = "1s",
        retry(max_attempts = 3, backoff = linear("1s")),
        key = order.number,
        aliases = ["hold it"],
        async { hold(order.number).await }
    )
    .await?;
    compensate!(
        ctx,
        "hold",
        timeout = "1s",
        retry(max_attempts = 3),
        key = order.number,
        [held, again = held],
        async move |_ctx| {
            let _: u64 = held + again;
            Ok(())
        }
    );
    let moved = order.org.clone();
    let moved: String = step!(ctx, "moved", async move { Ok(moved) }).await?;
    let (left, right) = tokio::join!(step!(ctx, "left", async { Ok(moved.len()) }), step!(ctx, "right", hold(1)));
    compensate!(ctx, "book", always, [], async move |_ctx, done: Option<u64>| {
        let _: Option<u64> = done;
        Ok(())
    });
    let booked: u64 = step_tx!(ctx, "book", async |tx| {
        let _: &mut jobs::StepTx = tx;
        Ok(held)
    })
    .await?;
    sleep!(ctx, "nap", "1h").await;
    sleep_until!(ctx, "morning", ctx.now().await?).await;
    let shipped: Shipped = wait_for!(ctx, "shipped", key = order.number).await?;
    let late: Option<Shipped> = wait_for!(ctx, "late", key = order.number, timeout = "1d").await?;
    let first = race!(
        ctx,
        "first",
        () = sleep!(ctx, "short", "1m") => 1,
        () = sleep!(ctx, "long", "1h") => 2,
    )
    .await?;
    spawn!(ctx, "tick", tick, ()).await?.join().await?;
    if patch!(ctx, "a change").await? {
        pivot!(ctx).await?;
    }
    drop((left?, late));
    Ok(booked + right? + first + u64::from(shipped.org.is_empty()))
}

/// Holds.
async fn hold(number: u64) -> Result<u64, io::Error> {
    Ok(number)
}

/// Looks at what has settled.
async fn look_at(_ctx: &Ctx, settled: Settled) -> Result<(), Failure> {
    drop(settled);
    Ok(())
}

/// Renumbers an older order.
fn renumber(from: u16, input: Value) -> Result<Value, fmt::Error> {
    if from == 0 { Err(fmt::Error) } else { Ok(input) }
}

#[test]
fn every_option_reaches_the_declaration() {
    let spec = PlaceOrder::SPEC;
    assert_eq!((spec.name, spec.aliases), ("orders.place", &["orders.take", "take_order"][..]));
    assert_eq!((spec.version, spec.queue, spec.priority), (3, "orders", -10));
    assert_eq!((spec.retry.max_attempts, spec.retry.backoff.growth), (7, Growth::Exponential));
    assert_eq!((spec.retry.backoff.base, spec.retry.backoff.max), (Duration::from_secs(2), Duration::from_mins(10)));
    assert_eq!(spec.retry.backoff.jitter, Jitter::None);
    assert_eq!((spec.timeout, spec.expires_after), (Some(Duration::from_mins(2)), Some(Duration::from_hours(72))));
    assert_eq!((spec.keep, spec.dead_letter, spec.crash_budget), (Keep::For(Duration::from_hours(720)), false, 5));
    assert!(spec.unique.is_some_and(|unique| unique.hold == Hold::For(Duration::from_hours(1))));
    assert!(spec.unique.is_some_and(|unique| unique.on_conflict == OnConflict::Reject));
    assert_eq!(spec.needs.iter().map(|need| (need.type_name)()).filter(|name| name.contains("lints::")).count(), 2);
    assert_eq!((spec.then.map(|then| then.job), spec.on_dead.map(|dead| dead.job)), (Some("notify"), Some("notify")));
    assert_eq!(spec.doc, "Takes an order.\n\nThe second paragraph.");
}

#[test]
fn what_is_not_given_keeps_its_default() {
    let (spec, default) = (notify::SPEC, JobSpec::new("notify"));
    assert_eq!((spec.version, spec.queue, spec.priority), (default.version, default.queue, default.priority));
    assert_eq!(spec.keep, Keep::None);
    assert_eq!(spec.retry.max_attempts, default.retry.max_attempts);
    assert_eq!((spec.retry.backoff.growth, spec.retry.backoff.max), (Growth::Linear, default.retry.backoff.max));
    assert!(
        spec.unique.is_some_and(|unique| unique.hold == Hold::Queued && unique.on_conflict == OnConflict::Existing)
    );
    assert_eq!(tick::SPEC.retry.backoff.growth, Growth::Fixed);
    assert!(tick::SPEC.unique.is_some_and(|unique| unique.hold == Hold::Live));
}

#[test]
fn tenant_and_unique_key_come_from_the_input_by_its_own_name() -> Result<(), jobs::Error> {
    let order = Order { org: "acme".to_owned(), number: 7, address: Address { city: "Ulm".to_owned() } };
    assert_eq!(PlaceOrder::tenant(&order).as_deref(), Some("acme"));
    let key = PlaceOrder::unique_key(&order)?;
    assert_eq!(key, Some(UniqueKey::Json(r#"{"address.city":"Ulm","number":7}"#.to_owned())));
    assert_eq!(tick::tenant(&()), None);
    Ok(())
}
