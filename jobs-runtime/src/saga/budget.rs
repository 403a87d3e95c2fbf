//! Says what follows a compensation that failed. Pure.

use crate::{failure::Verdict, spec::Retry};
use std::time::Duration;

/// What follows a failed try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// Another try, after this wait.
    Again(Duration),
    /// The same try once more after this wait: it was none.
    Uncounted(Duration),
    /// None: the budget is spent, or the failure says that no try can mend it.
    Spent,
}

/// What follows the try of this number, from 1, that failed.
///
/// A compensation has tries of its own, whatever the job's attempts came to. It cannot end its job: to discard or to
/// cancel means no more than to fail.
pub(crate) fn after(verdict: Verdict, tries: u32, retry: Retry, random: f64) -> After {
    let wait = match verdict {
        Verdict::Terminal => return After::Spent,
        Verdict::Snooze(wait) => return After::Uncounted(wait),
        Verdict::After(wait) => wait,
        Verdict::Backoff | Verdict::Cancel | Verdict::Discard => retry.backoff.jittered(tries, random),
    };
    if tries >= retry.max_attempts { After::Spent } else { After::Again(wait) }
}

#[cfg(test)]
mod tests {
    use super::{After, after};
    use crate::{backoff::Backoff, failure::Verdict, spec::Retry};
    use std::time::Duration;

    const RETRY: Retry = Retry::new(3, Backoff::exponential("2s", "1h"));

    #[test]
    fn each_try_but_the_last_is_followed_by_another() {
        let waits = |random| [1, 2, 3, 4].map(|tries| after(Verdict::Backoff, tries, RETRY, random));
        let secs = |secs| After::Again(Duration::from_secs(secs));
        assert_eq!(waits(0.0), [secs(1), secs(2), After::Spent, After::Spent]);
        assert_eq!(waits(1.0), [secs(2), secs(4), After::Spent, After::Spent]);
    }

    #[test]
    fn a_failure_can_say_when_to_come_again_and_that_no_try_can_mend_it() {
        let wait = Duration::from_secs(9);
        assert_eq!(after(Verdict::After(wait), 2, RETRY, 0.5), After::Again(wait));
        assert_eq!(after(Verdict::After(wait), 3, RETRY, 0.5), After::Spent);
        assert_eq!(after(Verdict::Snooze(wait), 3, RETRY, 0.5), After::Uncounted(wait));
        assert_eq!(after(Verdict::Terminal, 1, RETRY, 0.5), After::Spent);
    }

    #[test]
    fn a_compensation_cannot_end_its_job() {
        for verdict in [Verdict::Cancel, Verdict::Discard] {
            assert_eq!(after(verdict, 1, RETRY, 0.0), After::Again(Duration::from_secs(1)));
            assert_eq!(after(verdict, 3, RETRY, 0.0), After::Spent);
        }
    }
}
