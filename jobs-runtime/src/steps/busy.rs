//! Counts the durable operations that are under way, so that the body is not let go of while one is.

use super::run::Run;

/// One operation under way. It ends when it is dropped, however that comes about: a panic, a lost race.
pub(super) struct Busy(Run);

impl Run {
    /// Begins an operation.
    pub(super) fn busy(&self) -> Busy {
        self.state().busy += 1;
        Busy(self.clone())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.state().busy -= 1;
    }
}

/// One operation under way that stays so, because it stopped the body; or until it is dropped, with a race that it lost.
pub(super) struct Stuck(Run);

impl Run {
    /// Counts an operation that stopped the body.
    pub(super) fn stuck(&self) -> Stuck {
        self.state().stuck += 1;
        Stuck(self.clone())
    }
}

impl Drop for Stuck {
    fn drop(&mut self) {
        self.0.state().stuck -= 1;
    }
}

/// One operation under way that does nothing but wait, so that it does not count as busy until this is dropped.
pub(super) struct Idle(Run);

impl Run {
    /// Has an operation that counts as busy not count.
    pub(super) fn idle(&self) -> Idle {
        self.state().busy -= 1;
        Idle(self.clone())
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        self.0.state().busy += 1;
    }
}
