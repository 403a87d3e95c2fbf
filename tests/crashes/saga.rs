//! A saga of five steps, with a `once`, a transactional one, a wait and two children, hit wherever it can be hit.
//! Upstream: `main`. Downstream: `play`, `oracle`.

use crate::{
    oracle,
    play::{Scenario, Store, play},
    world::{Ledger, World, act, undo},
};
use jobs::{
    Error, JobId, Jobs, Registry, Resolution,
    driver::{Driver, JobRecord, Operation, StepRecord, StepStatus},
    error::code,
    prelude::*,
    testing::{Fault, Faults, Incarnation, RigBuilder},
};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// What the saga comes to by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum End {
    /// It completes.
    Completes,
    /// It fails for good after its last step.
    Fails,
    /// It is rolled back while it waits.
    RolledBack,
    /// It fails for good as soon as it takes its process down, else after its last step.
    Brittle,
}

/// What arrives for a trip.
#[derive(Debug, Serialize, Deserialize)]
#[event(name = "crashes.confirmed")]
pub(crate) struct Confirmed {
    by: String,
}

/// A seat of a trip, in the ledger that only transactions write.
#[job(name = "crashes.booking", tenant = none)]
async fn booking(_ctx: &Ctx, _trip: JobId) -> Result<(), Failure> {
    Ok(())
}

/// A child, which may be there for long.
#[job(name = "crashes.leg", tenant = none, retry(max_attempts = 4, backoff = fixed("1s")))]
async fn leg(ctx: &Ctx, lingers: bool) -> Result<u32, Failure> {
    let seat: u32 = step!(ctx, "seat", async { act(ctx, "seat").await }).await?;
    compensate!(ctx, "seat", async move |ctx| { undo(ctx, "seat").await });
    if lingers {
        sleep!(ctx, "linger", "90d").await;
    }
    Ok(seat)
}

/// The parent.
#[job(name = "crashes.trip", tenant = none, retry(max_attempts = 4, backoff = fixed("1s")))]
async fn trip(ctx: &Ctx, end: End) -> Result<u32, Failure> {
    let hold: u32 = step!(ctx, "hold", async { act(ctx, "hold").await }).await?;
    compensate!(ctx, "hold", async move |ctx| { undo(ctx, "hold").await });

    let paid: u32 = step!(ctx, "charge", once, async { act(ctx, "charge").await }).await?;
    compensate!(ctx, "charge", async move |ctx| { undo(ctx, "charge").await });

    let booked: u32 = step_tx!(ctx, "book", async |tx| {
        ctx.jobs().enqueue::<booking>(ctx.id()).delay("365d").in_tx(tx).await?;
        Ok(1)
    })
    .await?;
    compensate!(ctx, "book", async move |ctx| { undo(ctx, "book").await });

    let out = spawn!(ctx, "out", leg, false).await?;
    let back = spawn!(ctx, "back", leg, end != End::Completes).await?;
    let confirmed: Confirmed = wait_for!(ctx, "confirmed", key = ctx.id()).await?;
    let seats = out.join().await? + if end == End::Completes { back.join().await? } else { 0 };

    let packed: u32 = step!(ctx, "pack", async { act(ctx, "pack").await }).await?;
    compensate!(ctx, "pack", async move |ctx| { undo(ctx, "pack").await });
    if end == End::Fails {
        return Err(Failure::terminal("sold out").code("X_TEST_SOLD_OUT"));
    }
    Ok(hold + paid + booked + seats + packed + u32::from(confirmed.by.is_empty()))
}

/// A saga that may not take its process down even once.
#[job(name = "crashes.brittle", tenant = none, crash_budget = 1, retry(max_attempts = 4, backoff = fixed("1s")))]
async fn brittle(ctx: &Ctx, _input: ()) -> Result<u32, Failure> {
    let hold: u32 = step!(ctx, "hold", async { act(ctx, "hold").await }).await?;
    compensate!(ctx, "hold", async move |ctx| { undo(ctx, "hold").await });
    let paid: u32 = step!(ctx, "charge", once, async { act(ctx, "charge").await }).await?;
    compensate!(ctx, "charge", async move |ctx| { undo(ctx, "charge").await });
    Err(Failure::terminal(format!("sold out after {hold} and {paid}")).code("X_TEST_SOLD_OUT"))
}

/// The names of the steps that have a compensation, in no order.
pub(crate) const COMPENSATED: [&str; 5] = ["hold", "charge", "book", "pack", "seat"];
/// How often a compensation may fail: as often as the job.
pub(crate) const BUDGET: u32 = 4;
/// The output of a trip that completes.
pub(crate) const OUTPUT: &str = "36";

pub(crate) fn registry() -> Registry {
    Registry::builder().job::<trip>().job::<leg>().job::<booking>().job::<brittle>().build().expect("the jobs agree")
}

/// One play.
pub(crate) struct Trip {
    pub(crate) end: End,
    pub(crate) job: JobId,
    pub(crate) ledger: Ledger,
    published: AtomicBool,
}

impl Trip {
    /// Says of a payment of which nobody knows what the ledger knows.
    async fn answer(&self, driver: &dyn Driver, run: JobId) -> Result<(), Error> {
        let unknown = |step: &StepRecord| step.once && step.status == StepStatus::Started;
        let Some(step) = driver.steps(run).await?.into_iter().find(unknown) else { return Ok(()) };
        let took_effect = self.ledger.count(run, "charge", false) > 0;
        let done = || Resolution::Done(jobs::JsonText::parse("7").expect("valid"));
        let answer = if took_effect { done() } else { Resolution::Again };
        driver.operate(run, Operation::Resolve(step.id, answer)).await
    }
}

impl Scenario for Trip {
    fn registry(&self) -> Registry {
        registry()
    }

    fn equip<'a>(&self, rig: RigBuilder<'a>, life: &Incarnation) -> RigBuilder<'a> {
        rig.state(World { life: life.clone(), ledger: self.ledger.clone() })
    }

    /// Confirms what waits, or rolls it back; and answers for what is unknown, as the ledger knows it.
    async fn idle(&self, jobs: &Jobs) -> Result<(), Error> {
        let record = jobs.driver().find(self.job).await?.expect("the job is stored");
        if record.state != State::Suspended {
            return Ok(());
        }
        if record.parked.is_some_and(|parked| parked.code == code::STEP_UNKNOWN.name) {
            return match self.answer(jobs.driver().as_ref(), self.job).await {
                // The answer to the first try was lost.
                Err(error) if error.code() == code::JOB_STATE_REFUSED => Ok(()),
                answer => answer,
            };
        }
        if self.end == End::RolledBack {
            return jobs.driver().roll_back(self.job).await.map(drop);
        }
        if !self.published.load(SeqCst) {
            Confirmed { by: "the hotel".to_owned() }.publish(jobs, self.job).await?;
            self.published.store(true, SeqCst);
        }
        Ok(())
    }
}

/// Plays the saga once and judges it. Answers the points that it passed.
pub(crate) async fn once(
    store: &dyn Store,
    end: End,
    failing: Option<(&'static str, u32)>,
    faults: &Faults,
) -> Vec<String> {
    store.empty().await;
    let jobs = Jobs::new(store.driver(), registry());
    let enqueued = match end {
        End::Brittle => jobs.enqueue::<brittle>(()).await,
        end => jobs.enqueue::<trip>(end).await,
    };
    let job = enqueued.expect("accepted").id();
    let trip = Trip { end, job, ledger: Ledger::new(store.driver(), failing), published: AtomicBool::new(false) };
    let (record, lives) = play(store, &trip, job, faults).await;
    let points = faults.points();
    if let Err(broken) = oracle::judge(store, &trip, failing, &record, faults).await {
        let steps = store.driver().steps(job).await;
        panic!(
            "{end:?}, {failing:?}, {faults:?} in {lives} lives: {broken}\n{record:#?}\n{steps:#?}\n{:#?}\n{points:#?}",
            trip.ledger.effects()
        );
    }
    if stuck(&record) {
        resume(store, &trip).await;
    }
    points
}

fn stuck(record: &JobRecord) -> bool {
    record.failure.as_ref().is_some_and(|failure| failure.code == code::JOB_COMPENSATION_FAILED.name)
}

/// An operator mends the world and has the run, and what it spawned, undo the rest: the failure is the original again.
async fn resume(store: &dyn Store, trip: &Trip) {
    trip.ledger.mend();
    let faults = Faults::none();
    let children = store.driver().steps(trip.job).await.expect("listed").into_iter().filter_map(|step| step.child);
    for run in children.chain([trip.job]) {
        let record = store.driver().find(run).await.expect("a find answers").expect("it is stored");
        if stuck(&record) {
            trip.answer(&*store.driver(), run).await.expect("it may be answered for");
            store.driver().operate(run, Operation::Resume).await.expect("it may be resumed");
            play(store, trip, run, &faults).await;
        }
    }
    let record = store.driver().find(trip.job).await.expect("a find answers").expect("it is stored");
    let judged = oracle::judge(store, trip, None, &record, &Faults::at(&[(0, Fault::Away)])).await;
    assert!(judged.is_ok() && !stuck(&record), "after a resume: {judged:?}, {record:?}");
}

/// How much was played.
#[derive(Debug, Default)]
pub(crate) struct Sum {
    scenarios: usize,
    points: usize,
    plays: usize,
}

impl Sum {
    pub(crate) fn add(&mut self, other: Self) {
        self.scenarios += other.scenarios;
        self.points += other.points;
        self.plays += other.plays;
    }

    /// Shows it, and that no point was left out.
    pub(crate) fn print(&self) {
        let Self { scenarios, points, plays } = self;
        println!("{scenarios} scenarios with {points} fault points, {plays} plays with a fault");
        assert!(plays >= points && *plays > 0, "{self:?}: some points were not hit");
    }
}

/// Plays it with a fault at each point, or at each `stride`-th from the first one given.
pub(crate) async fn enumerate(
    store: &dyn Store,
    end: End,
    failing: Option<(&'static str, u32)>,
    fault: Fault,
    first: usize,
    stride: usize,
) -> Sum {
    let points = once(store, end, failing, &Faults::none()).await.len();
    let mut sum = Sum { scenarios: 1, points: (points - first).div_ceil(stride), plays: 0 };
    for at in (first..).step_by(stride) {
        let plan = Faults::at(&[(at, fault)]);
        once(store, end, failing, &plan).await;
        if !plan.all_struck() {
            break;
        }
        sum.plays += 1;
    }
    sum
}

/// Plays it with two crashes, at pairs of points taken at random.
pub(crate) async fn pairs(store: &dyn Store, pairs: u64) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let (pairs, seed) = (number("JOBS_CASES").unwrap_or(pairs), number("JOBS_SEED").unwrap_or(1));
    let mut random = Random(seed);
    for end in [End::Completes, End::Fails, End::RolledBack] {
        let points = once(store, end, None, &Faults::none()).await.len() as u64;
        for _ in 0..pairs / 3 {
            // The second one counts from the first: it may be hit while what the first one broke is mended.
            let first = random.below(points);
            let second = first + 1 + random.below(points);
            once(store, end, None, &Faults::at(&[first, second].map(|at| (at as usize, Fault::Crash)))).await;
        }
    }
    println!("{pairs} pairs of crashes, seed {seed}");
}

/// Numbers that a seed determines: SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}
