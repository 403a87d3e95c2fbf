//! Random histories of calls.

use jobs::{State, spec::Hold};
use proptest::{collection::vec, option, prelude::*, sample::select};

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
        claim: usize,
        change: Change,
    },
    Cancel(usize),
    Requeue(usize),
    Promote,
    Rescue,
    Advance(u64),
}

/// A job to be enqueued; its delay in seconds.
#[derive(Clone, Copy)]
pub(crate) struct New {
    pub(crate) priority: i16,
    pub(crate) delay: u64,
    pub(crate) key: Option<(u8, Hold)>,
}

/// A write by a worker.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Finish { state: State, keep: bool, follow_up: Option<New> },
    Again { counted: bool, delay: u64 },
    Progress,
}

/// What became of a write.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Landed,
    Cancelled,
    Stale,
}

/// What a cancel found.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Cancelled {
    AtOnce,
    Asked,
    Already(State),
    NotFound,
}

impl std::fmt::Debug for New {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "job(priority {}, delay {}, key {:?})", self.priority, self.delay, self.key)
    }
}

pub(crate) fn histories() -> impl Strategy<Value = Vec<Call>> {
    vec(call(), 1..60)
}

fn call() -> impl Strategy<Value = Call> {
    let any = || 0..1_000_usize;
    prop_oneof![
        6 => vec(new(), 1..4).prop_map(Call::Enqueue),
        2 => Just(Call::StartWorker),
        1 => (0..4_usize).prop_map(Call::StopWorker),
        3 => (0..4_usize).prop_map(Call::Renew),
        8 => (0..4_usize, 1..4_u32).prop_map(|(worker, limit)| Call::Claim { worker, limit }),
        12 => (0..4_usize, any(), change()).prop_map(|(worker, claim, change)| Call::Write { worker, claim, change }),
        3 => any().prop_map(Call::Cancel),
        2 => any().prop_map(Call::Requeue),
        4 => Just(Call::Promote),
        2 => Just(Call::Rescue),
        4 => select(vec![10, 20, 40]).prop_map(Call::Advance),
    ]
}

fn new() -> impl Strategy<Value = New> {
    let key = option::weighted(0.4, (0..3_u8, select(vec![Hold::Live, Hold::Queued])));
    (-1..2_i16, delay(), key).prop_map(|(priority, delay, key)| New { priority, delay, key })
}

fn delay() -> impl Strategy<Value = u64> {
    select(vec![0, 0, 0, 10, 30])
}

fn change() -> impl Strategy<Value = Change> {
    let ends = vec![State::Completed, State::Completed, State::Dead, State::Dropped, State::Cancelled, State::Expired];
    prop_oneof![
        4 => (select(ends), any::<bool>(), option::weighted(0.3, new()))
            .prop_map(|(state, keep, follow_up)| Change::Finish { state, keep, follow_up }),
        4 => (any::<bool>(), delay()).prop_map(|(counted, delay)| Change::Again { counted, delay }),
        1 => Just(Change::Progress),
    ]
}
