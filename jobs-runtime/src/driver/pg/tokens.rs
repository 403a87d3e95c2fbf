//! Hands out claim tokens: a block drawn from the database, counted up in memory. Upstream: `claim`.

use std::sync::Mutex;

/// How many tokens a block holds.
const BLOCK: i64 = 1 << 32;

/// The tokens that this process has left. No two processes ever draw the same block.
#[derive(Debug, Default)]
pub(super) struct Tokens(Mutex<Option<Left>>);

#[derive(Debug)]
struct Left {
    next: i64,
    end: i64,
}

impl Tokens {
    /// Takes `count` tokens and answers the number before the first; `None` if a block must be drawn.
    pub(super) fn take(&self, count: u32) -> Option<i64> {
        let mut left = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let left = left.as_mut()?;
        let before = left.next;
        let next = before + i64::from(count);
        (next < left.end).then(|| {
            left.next = next;
            before
        })
    }

    /// Puts a drawn block to use.
    pub(super) fn refill(&self, block: i64) {
        let mut left = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *left = Some(Left { next: block * BLOCK, end: (block + 1) * BLOCK });
    }
}
