//! Splits a batch into rounds in which no job ends twice. Upstream: the batch. Downstream: `apply`.

use crate::{
    driver::{Change, Fence, Finish, NewJob, Park, Progress, Reschedule, StepKind, StepRef, StepWrite, Unwind, Write},
    failure::RecordedFailure,
    id::JobId,
    json::JsonText,
};
use std::{collections::HashSet, mem};

/// How many bytes of text a round carries, unless a single write is larger: far less than a statement can write within
/// its time limit.
const MAX_BYTES: usize = 8 << 20;

/// One kind of change with the place of each item in the batch.
pub(super) type Items<'w, C> = Vec<(usize, Fence, &'w C)>;

macro_rules! round {
    ($($kind:ident: $change:ty,)*) => {
        /// Writes that may land together, in the order of the fields: each job ends at most once, and no record stands
        /// in it twice.
        #[derive(Debug, Default)]
        pub(super) struct Round<'w> {
            $(pub(super) $kind: Items<'w, $change>,)*
        }

        impl Round<'_> {
            pub(super) fn len(&self) -> usize {
                0 $(+ self.$kind.len())*
            }

            /// How many kinds of change it holds.
            pub(super) fn kinds(&self) -> usize {
                0 $(+ usize::from(!self.$kind.is_empty()))*
            }

            /// Halves the round: first by kind of change, then within the kind.
            ///
            /// # Errors
            /// The place of the only item, if there is but one.
            pub(super) fn halve(mut self) -> Result<(Self, Self), usize> {
                if self.len() <= 1 {
                    return Err(None$(.or(self.$kind.first().map(|item| item.0)))*.unwrap_or_default());
                }
                let mut second = Self::default();
                if self.kinds() > 1 {
                    let mut is_first = true;
                    $(if !self.$kind.is_empty() && !mem::replace(&mut is_first, false) {
                        second.$kind = mem::take(&mut self.$kind);
                    })*
                } else {
                    $(second.$kind = self.$kind.split_off(self.$kind.len() / 2);)*
                }
                Ok((self, second))
            }
        }
    };
}

round! {
    progress: Progress,
    steps: StepWrite,
    unwind: Unwind,
    finish: Finish,
    reschedule: Reschedule,
    park: Park,
}

/// What a round holds already. A job of which something had to be left for a later round has `left` this one.
#[derive(Debug, Default)]
struct Held<'w> {
    reported: HashSet<JobId>,
    recorded: HashSet<(JobId, i16, &'w StepRef)>,
    unwound: HashSet<JobId>,
    left: HashSet<JobId>,
}

/// Splits a batch. What follows a job's end, or its earlier write of the same, comes in a later round, so that each item
/// sees what those before it did.
pub(super) fn split(writes: &[Write]) -> Vec<Round<'_>> {
    let mut rounds = Vec::new();
    let mut rest: Vec<_> = writes.iter().enumerate().collect();
    while !rest.is_empty() {
        let mut round = Round::default();
        let mut held = Held { left: HashSet::with_capacity(rest.len()), ..Held::default() };
        let mut bytes = 0;
        rest.retain(|(place, write)| {
            bytes += size(write);
            let is_full = bytes > MAX_BYTES && round.len() > 0;
            is_full || !round.admit(*place, write, &mut held)
        });
        rounds.push(round);
    }
    rounds
}

fn size(write: &Write) -> usize {
    match &write.change {
        Change::Progress(progress) => progress.message.len(),
        Change::Step(step) => step_size(step),
        Change::Park(park) => park.records.iter().map(step_size).sum::<usize>() + text(&park.reason),
        Change::Unwind(unwind) => unwind.records.iter().map(step_size).sum::<usize>() + unwind.failure.operator.len(),
        Change::Reschedule(reschedule) => text(&reschedule.failure),
        Change::Finish(finish) => json(&finish.output) + payload(&finish.follow_up) + text(&finish.failure),
    }
}

fn step_size(step: &StepWrite) -> usize {
    json(&step.output) + payload(&step.child) + text(&step.failure)
}

fn text(failure: &Option<RecordedFailure>) -> usize {
    failure.as_ref().map_or(0, |failure| failure.operator.len())
}

fn json(output: &Option<JsonText>) -> usize {
    output.as_ref().map_or(0, |output| output.as_str().len())
}

fn payload(job: &Option<Box<NewJob>>) -> usize {
    job.as_ref().map_or(0, |job| job.payload.as_str().len())
}

/// In which of a run's lists of records a kind stands: a line of the body and its compensation share name and key.
pub(super) fn role(kind: StepKind) -> i16 {
    match kind {
        StepKind::Undo => 1,
        StepKind::Unwind => 2,
        StepKind::Requeue => 3,
        _ => 0,
    }
}

impl<'w> Round<'w> {
    fn admit(&mut self, place: usize, write: &'w Write, held: &mut Held<'w>) -> bool {
        let fence = write.fence;
        let job = fence.job;
        if held.left.contains(&job) {
            return false;
        }
        let fits = match &write.change {
            Change::Progress(_) => held.reported.insert(job),
            // Records land before the decision to unwind: one that follows it has to wait.
            Change::Step(step) => {
                !held.unwound.contains(&job) && held.recorded.insert((job, role(step.kind), &step.id))
            }
            Change::Unwind(_) => held.unwound.insert(job),
            Change::Finish(_) | Change::Park(_) | Change::Reschedule(_) => held.left.insert(job),
        };
        if !fits {
            held.left.insert(job);
            return false;
        }
        match &write.change {
            Change::Progress(progress) => self.progress.push((place, fence, progress)),
            Change::Step(step) => self.steps.push((place, fence, step)),
            Change::Unwind(unwind) => self.unwind.push((place, fence, unwind)),
            Change::Finish(finish) => self.finish.push((place, fence, finish)),
            Change::Park(park) => self.park.push((place, fence, park)),
            Change::Reschedule(reschedule) => self.reschedule.push((place, fence, reschedule)),
        }
        true
    }
}
