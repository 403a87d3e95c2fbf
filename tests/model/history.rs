//! Random histories of calls. Downstream: `play`, and `kept`, into which a printed history is pasted as it is.

use jobs::{State, driver::StepStatus, spec::Hold};
use proptest::{collection::vec, option, prelude::*, sample::select};

/// Which claim or job.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which {
    /// Of the claims, one that is held; of the jobs, one that has not ended or is dead.
    Open(usize),
    /// Any of all that there were.
    Any(usize),
}

/// One call. Workers, jobs and claims are named by numbers that are taken modulo how many there are.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    Enqueue(Vec<New>),
    StartWorker,
    StopWorker(usize),
    Renew(usize),
    Claim {
        worker: usize,
        limit: u32,
    },
    /// Writes under a claim that was given at any time, fresh or long stale.
    Write {
        worker: usize,
        claim: Which,
        change: Change,
    },
    Cancel(Which),
    RollBack(Which),
    Requeue(usize),
    Operate(Which, Say),
    Publish(Event),
    /// What a run that has taken the events of these numbers finds.
    Find {
        key: u8,
        taken: Vec<usize>,
    },
    Promote,
    Wake,
    Rescue,
    PurgeEvents,
    Advance(u64),
}

/// An event to be published.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) key: u8,
    /// In seconds.
    pub(crate) ttl: u64,
    /// Whether it is published in a transaction, and whether that commits.
    pub(crate) within: Option<bool>,
}

/// What an operator says of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Say {
    Resolve(Name, Answer),
    Resume,
    SkipUndo(Name),
    MarkUndone(Name),
}

/// What an operator says of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    Done,
    Failed,
    Again,
}

/// The names that steps have; each is always of one kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Name {
    Hold,
    /// A `once` step.
    Charge,
    Shipped,
    Child,
    Pivot,
}

/// A job to be enqueued; its delay in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct New {
    pub(crate) priority: i16,
    pub(crate) delay: u64,
    pub(crate) key: Option<(u8, Hold)>,
}

/// A write by a worker.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Finish { state: State, keep: bool, follow_up: Option<New> },
    Again { counted: bool, delay: u64 },
    Progress,
    Step(Step),
    Park { due: Option<u64>, awaits: Vec<Await>, records: Vec<Step>, reason: bool },
    Unwind { records: Vec<Step> },
}

impl Change {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Finish { .. } => "finish",
            Self::Again { .. } => "again",
            Self::Progress => "progress",
            Self::Step(step) if step.name == Name::Child => "spawn",
            Self::Step(_) => "step",
            Self::Park { .. } => "park",
            Self::Unwind { .. } => "unwind",
        }
    }
}

/// A record that is written. Of the name `Child` it spawns one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) name: Name,
    pub(crate) undo: bool,
    pub(crate) status: StepStatus,
    pub(crate) tries: u32,
    pub(crate) child: New,
    /// Whether it is written by a transaction of the step's own.
    pub(crate) within: bool,
}

/// What a parked run waits for.
#[derive(Clone, Debug)]
pub(crate) enum Await {
    /// An event of this key, unless it is one of these numbers.
    Event(u8, Vec<usize>),
    /// The child that it has spawned, if it has.
    Child,
}

/// What became of a write.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Landed,
    Cancelled,
    Stale,
    Refused,
}

/// What a cancel found.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Cancelled {
    AtOnce,
    Asked,
    Already(State),
    NotFound,
}

/// Most begin with jobs that are held, some of them deep in a run.
pub(crate) fn histories() -> impl Strategy<Value = Vec<Call>> {
    let held = vec(new(), 1..4)
        .prop_map(|news| vec![Call::StartWorker, Call::Enqueue(news), Call::Claim { worker: 0, limit: 3 }]);
    let start = prop_oneof![1 => Just(Vec::new()), 4 => (held, deep()).prop_map(|(held, deep)| [held, deep].concat())];
    (start, vec(call(), 1..60)).prop_map(|(start, calls)| [start, calls].concat())
}

/// Calls that lead a held job to where others seldom do.
fn deep() -> impl Strategy<Value = Vec<Call>> {
    let write = |change| Call::Write { worker: 1, claim: Which::Open(0), change };
    let step = |name, status| {
        let child = New { priority: 0, delay: 0, key: None };
        Step { name, undo: false, status, tries: 0, child, within: false }
    };
    let done = step(Name::Hold, StepStatus::Done);
    let unknown = step(Name::Charge, StepStatus::Started);
    let parked = Change::Park { due: None, awaits: Vec::new(), records: Vec::new(), reason: true };
    let dead = Change::Finish { state: State::Dead, keep: true, follow_up: None };
    let asked = select(vec![Call::Cancel(Which::Open(0)), Call::RollBack(Which::Open(0))]);
    prop_oneof![
        4 => Just(Vec::new()),
        1 => Just(vec![write(Change::Step(unknown)), write(parked)]),
        1 => Just(vec![write(Change::Step(done)), write(Change::Unwind { records: vec![unknown] }), write(dead)]),
        1 => asked.prop_map(move |asked| vec![write(Change::Step(done)), asked]),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    let any = || 0..1_000_usize;
    prop_oneof![
        6 => vec(new(), 1..4).prop_map(Call::Enqueue),
        2 => Just(Call::StartWorker),
        1 => (0..4_usize).prop_map(Call::StopWorker),
        3 => (0..4_usize).prop_map(Call::Renew),
        8 => (0..4_usize, 1..4_u32).prop_map(|(worker, limit)| Call::Claim { worker, limit }),
        26 => (0..4_usize, which(), change()).prop_map(|(worker, claim, change)| Call::Write { worker, claim, change }),
        1 => which().prop_map(Call::Cancel),
        2 => which().prop_map(Call::RollBack),
        2 => any().prop_map(Call::Requeue),
        6 => (which(), say()).prop_map(|(job, say)| Call::Operate(job, say)),
        5 => event().prop_map(Call::Publish),
        1 => (0..2_u8, taken()).prop_map(|(key, taken)| Call::Find { key, taken }),
        4 => Just(Call::Promote),
        1 => Just(Call::Wake),
        2 => Just(Call::Rescue),
        1 => Just(Call::PurgeEvents),
        4 => select(vec![10, 20, 40]).prop_map(Call::Advance),
    ]
}

fn which() -> impl Strategy<Value = Which> {
    prop_oneof![4 => (0..1_000_usize).prop_map(Which::Open), 1 => (0..1_000_usize).prop_map(Which::Any)]
}

fn event() -> impl Strategy<Value = Event> {
    (0..2_u8, select(vec![5, 1_000]), option::weighted(0.4, any::<bool>())).prop_map(|(key, ttl, within)| Event {
        key,
        ttl,
        within,
    })
}

/// Numbers of events, taken modulo how many there are.
fn taken() -> impl Strategy<Value = Vec<usize>> {
    vec(0..20_usize, 0..4)
}

fn name() -> impl Strategy<Value = Name> {
    select(vec![
        Name::Hold,
        Name::Hold,
        Name::Charge,
        Name::Charge,
        Name::Charge,
        Name::Shipped,
        Name::Child,
        Name::Pivot,
    ])
}

fn say() -> impl Strategy<Value = Say> {
    let answer = select(vec![Answer::Done, Answer::Failed, Answer::Again]);
    prop_oneof![
        4 => (select(vec![Name::Charge, Name::Charge, Name::Charge, Name::Hold]), answer)
            .prop_map(|(name, answer)| Say::Resolve(name, answer)),
        2 => Just(Say::Resume),
        1 => name().prop_map(Say::SkipUndo),
        1 => name().prop_map(Say::MarkUndone),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let names = vec![Name::Hold, Name::Hold, Name::Charge, Name::Charge, Name::Shipped, Name::Child, Name::Pivot];
    let status = select(vec![StepStatus::Started, StepStatus::Tried, StepStatus::Failed, StepStatus::Done]);
    (select(names), prop::bool::weighted(0.3), status, 0..3_u32, new(), prop::bool::weighted(0.3)).prop_map(
        |(name, undo, status, tries, child, within)| match name {
            // Its record is open until the child has ended.
            Name::Child => Step { name, undo: false, status: StepStatus::Started, tries: 0, child, within: false },
            Name::Pivot => Step { name, undo: false, status: StepStatus::Done, tries: 0, child, within },
            Name::Shipped => Step { name, undo: false, status, tries, child, within },
            Name::Hold | Name::Charge => Step { name, undo, status, tries, child, within },
        },
    )
}

fn park() -> impl Strategy<Value = Change> {
    let awaits =
        prop_oneof![3 => (0..2_u8, taken()).prop_map(|(key, taken)| Await::Event(key, taken)), 1 => Just(Await::Child)];
    (option::of(select(vec![0, 10, 40])), vec(awaits, 0..3), any::<bool>(), prop::bool::weighted(0.2)).prop_map(
        |(due, awaits, began, reason)| {
            // A run that waits for an event has recorded so.
            let child = New { priority: 0, delay: 0, key: None };
            let status = StepStatus::Waiting;
            let wait = Step { name: Name::Shipped, undo: false, status, tries: 0, child, within: false };
            let waits = began || awaits.iter().any(|wait| matches!(wait, Await::Event(..)));
            Change::Park { due, awaits, records: if waits { vec![wait] } else { Vec::new() }, reason }
        },
    )
}

/// A step of the attempt that failed and is not recorded yet.
fn failed() -> impl Strategy<Value = Step> {
    (select(vec![Name::Hold, Name::Charge]), new()).prop_map(|(name, child)| {
        let status = StepStatus::Failed;
        Step { name, undo: false, status, tries: 1, child, within: false }
    })
}

fn new() -> impl Strategy<Value = New> {
    let key = option::weighted(0.4, (0..3_u8, select(vec![Hold::Live, Hold::Queued])));
    (-1..2_i16, delay(), key).prop_map(|(priority, delay, key)| New { priority, delay, key })
}

fn delay() -> impl Strategy<Value = u64> {
    select(vec![0, 0, 0, 10, 30])
}

fn change() -> impl Strategy<Value = Change> {
    let ends = vec![
        State::Completed,
        State::Completed,
        State::Dead,
        State::Dead,
        State::Dead,
        State::Dropped,
        State::Cancelled,
        State::Expired,
    ];
    prop_oneof![
        4 => (select(ends), any::<bool>(), option::weighted(0.3, new()))
            .prop_map(|(state, keep, follow_up)| Change::Finish { state, keep, follow_up }),
        4 => (any::<bool>(), delay()).prop_map(|(counted, delay)| Change::Again { counted, delay }),
        1 => Just(Change::Progress),
        8 => step().prop_map(Change::Step),
        5 => park(),
        2 => vec(failed(), 0..2).prop_map(|records| Change::Unwind { records }),
    ]
}
