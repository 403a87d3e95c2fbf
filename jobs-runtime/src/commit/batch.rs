//! Writes that go out together, with those who wait for their answers. A leaf.

use super::Item;
use crate::driver::{Change, StepWrite, Write, Written};
use tokio::sync::oneshot;

/// How many bytes of outputs and follow-ups a flush carries at most, unless one write alone is larger.
const BYTES: usize = 32 << 20;

/// Writes that go out together.
pub(super) struct Batch {
    pub(super) writes: Vec<Write>,
    answers: Vec<oneshot::Sender<Written>>,
    /// How often they were tried in this composition.
    pub(super) tries: u32,
    /// Whether an earlier try may have landed although its answer did not arrive.
    pub(super) unsure: bool,
}

impl Batch {
    /// Takes items apart into batches of at most so many bytes, the last one first.
    pub(super) fn split_by_size(items: impl Iterator<Item = Item>) -> Vec<Self> {
        let mut batches = vec![Self::new()];
        let mut bytes = 0;
        for Item { write, answer } in items {
            let size = size(&write);
            if bytes + size > BYTES && bytes > 0 {
                batches.push(Self::new());
                bytes = 0;
            }
            bytes += size;
            if let Some(batch) = batches.last_mut() {
                batch.writes.push(write);
                batch.answers.push(answer);
            }
        }
        batches.reverse();
        batches
    }

    fn new() -> Self {
        Self { writes: Vec::new(), answers: Vec::new(), tries: 0, unsure: false }
    }

    /// Its halves, the second one first.
    pub(super) fn halves(mut self) -> [Self; 2] {
        let half = self.writes.len() / 2;
        let second = Self {
            writes: self.writes.split_off(half),
            answers: self.answers.split_off(half),
            tries: 0,
            unsure: self.unsure,
        };
        self.tries = 0;
        [second, self]
    }

    /// Tells each writer what became of its write.
    pub(super) fn answer(self, written: Vec<Written>) {
        for (answer, written) in self.answers.into_iter().zip(written) {
            let _ = answer.send(written);
        }
    }
}

fn size(write: &Write) -> usize {
    match &write.change {
        Change::Finish(finish) => {
            let output = finish.output.as_ref().map_or(0, |output| output.as_str().len());
            output + finish.follow_up.as_ref().map_or(0, |job| job.payload.as_str().len())
        }
        Change::Step(step) => step_size(step),
        Change::Park(park) => park.records.iter().map(step_size).sum(),
        Change::Unwind(unwind) => unwind.records.iter().map(step_size).sum(),
        Change::Reschedule(_) | Change::Progress(_) => 0,
    }
}

fn step_size(step: &StepWrite) -> usize {
    let output = step.output.as_ref().map_or(0, |output| output.as_str().len());
    output + step.child.as_ref().map_or(0, |job| job.payload.as_str().len())
}
