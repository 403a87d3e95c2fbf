//! Splits a batch into rounds in which no job ends twice. Upstream: the batch. Downstream: `apply`.

use crate::{
    driver::{Change, Fence, Finish, Park, Progress, Reschedule, Write},
    failure::RecordedFailure,
    id::JobId,
};
use std::collections::HashSet;

/// How many bytes of text a round carries, unless a single write is larger: far less than a statement can write within
/// its time limit.
const MAX_BYTES: usize = 8 << 20;

/// One kind of change with the place of each item in the batch.
pub(super) type Items<'w, C> = Vec<(usize, Fence, &'w C)>;

/// Writes that may land together: progress first, then the ends, then the parks, each job at most once in each kind.
#[derive(Debug, Default)]
pub(super) struct Round<'w> {
    pub(super) progress: Items<'w, Progress>,
    pub(super) finish: Items<'w, Finish>,
    pub(super) reschedule: Items<'w, Reschedule>,
    pub(super) park: Items<'w, Park>,
}

/// Splits a batch. What follows a job's end, or its earlier progress, comes in a later round, so that each item sees
/// what those before it did.
pub(super) fn split(writes: &[Write]) -> Vec<Round<'_>> {
    let mut rounds = Vec::new();
    let mut rest: Vec<_> = writes.iter().enumerate().collect();
    while !rest.is_empty() {
        let mut round = Round::default();
        let mut reported = HashSet::new();
        let mut ended = HashSet::with_capacity(rest.len());
        let mut bytes = 0;
        rest.retain(|(place, write)| {
            bytes += size(write);
            let is_full = bytes > MAX_BYTES && round.len() > 0;
            is_full || !round.admit(*place, write, &mut reported, &mut ended)
        });
        rounds.push(round);
    }
    rounds
}

fn size(write: &Write) -> usize {
    let text = |failure: &Option<RecordedFailure>| failure.as_ref().map_or(0, |failure| failure.operator.len());
    match &write.change {
        Change::Step(_) | Change::Unwind(_) => 0,
        Change::Park(park) => {
            park.records.iter().map(|record| record.output.as_ref().map_or(0, |json| json.as_str().len())).sum()
        }
        Change::Progress(progress) => progress.message.len(),
        Change::Reschedule(reschedule) => text(&reschedule.failure),
        Change::Finish(finish) => {
            let output = finish.output.as_ref().map_or(0, |output| output.as_str().len());
            let follow_up = finish.follow_up.as_ref().map_or(0, |job| job.payload.as_str().len());
            output + follow_up + text(&finish.failure)
        }
    }
}

impl<'w> Round<'w> {
    fn admit(
        &mut self,
        place: usize,
        write: &'w Write,
        reported: &mut HashSet<JobId>,
        ended: &mut HashSet<JobId>,
    ) -> bool {
        let fence = write.fence;
        let job = fence.job;
        match &write.change {
            Change::Step(_) | Change::Unwind(_) => {}
            Change::Park(park) => {
                if !ended.insert(job) {
                    return false;
                }
                self.park.push((place, fence, &**park));
            }
            Change::Progress(progress) => {
                if ended.contains(&job) || !reported.insert(job) {
                    ended.insert(job);
                    return false;
                }
                self.progress.push((place, fence, progress));
            }
            Change::Finish(finish) => {
                if !ended.insert(job) {
                    return false;
                }
                self.finish.push((place, fence, finish));
            }
            Change::Reschedule(reschedule) => {
                if !ended.insert(job) {
                    return false;
                }
                self.reschedule.push((place, fence, reschedule));
            }
        }
        true
    }

    pub(super) fn len(&self) -> usize {
        self.progress.len() + self.finish.len() + self.reschedule.len() + self.park.len()
    }

    /// Halves the round: first by kind of change, then within the kind.
    ///
    /// # Errors
    /// The place of the only item, if there is but one.
    pub(super) fn halve(mut self) -> Result<(Self, Self), usize> {
        let place = self.progress.first().map(|item| item.0);
        let place = place.or(self.finish.first().map(|item| item.0)).or(self.reschedule.first().map(|item| item.0));
        let place = place.or(self.park.first().map(|item| item.0));
        if self.len() <= 1 {
            return Err(place.unwrap_or_default());
        }
        let mut second = Self::default();
        if !self.progress.is_empty() && self.progress.len() < self.len() {
            second.finish = std::mem::take(&mut self.finish);
            second.reschedule = std::mem::take(&mut self.reschedule);
            second.park = std::mem::take(&mut self.park);
        } else if !self.finish.is_empty() && self.finish.len() < self.len() {
            second.reschedule = std::mem::take(&mut self.reschedule);
            second.park = std::mem::take(&mut self.park);
        } else if !self.reschedule.is_empty() && !self.park.is_empty() {
            second.park = std::mem::take(&mut self.park);
        } else {
            second.progress = self.progress.split_off(self.progress.len() / 2);
            second.finish = self.finish.split_off(self.finish.len() / 2);
            second.reschedule = self.reschedule.split_off(self.reschedule.len() / 2);
            second.park = self.park.split_off(self.park.len() / 2);
        }
        Ok((self, second))
    }
}
