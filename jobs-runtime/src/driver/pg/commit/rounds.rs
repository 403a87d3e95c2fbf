//! Splits a batch into rounds in which no job ends twice. Upstream: the batch. Downstream: `apply`.

use crate::{
    driver::{Change, Fence, Finish, Progress, Reschedule, Write},
    id::JobId,
};
use std::collections::HashSet;

/// One kind of change with the place of each item in the batch.
pub(super) type Items<'w, C> = Vec<(usize, Fence, &'w C)>;

/// Writes that may land together: progress first, then the ends, each job at most once in each kind.
#[derive(Debug, Default)]
pub(super) struct Round<'w> {
    pub(super) progress: Items<'w, Progress>,
    pub(super) finish: Items<'w, Finish>,
    pub(super) reschedule: Items<'w, Reschedule>,
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
        rest.retain(|(place, write)| !round.admit(*place, write, &mut reported, &mut ended));
        rounds.push(round);
    }
    rounds
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
        self.progress.len() + self.finish.len() + self.reschedule.len()
    }

    /// Halves the round: first by kind of change, then within the kind.
    ///
    /// # Errors
    /// The place of the only item, if there is but one.
    pub(super) fn halve(mut self) -> Result<(Self, Self), usize> {
        let place = self.progress.first().map(|item| item.0);
        let place = place.or(self.finish.first().map(|item| item.0)).or(self.reschedule.first().map(|item| item.0));
        if self.len() <= 1 {
            return Err(place.unwrap_or_default());
        }
        let mut second = Self::default();
        if !self.progress.is_empty() && self.progress.len() < self.len() {
            second.finish = std::mem::take(&mut self.finish);
            second.reschedule = std::mem::take(&mut self.reschedule);
        } else if !self.finish.is_empty() && !self.reschedule.is_empty() {
            second.reschedule = std::mem::take(&mut self.reschedule);
        } else {
            second.progress = self.progress.split_off(self.progress.len() / 2);
            second.finish = self.finish.split_off(self.finish.len() / 2);
            second.reschedule = self.reschedule.split_off(self.reschedule.len() / 2);
        }
        Ok((self, second))
    }
}
