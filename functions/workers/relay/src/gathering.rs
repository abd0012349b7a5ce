//! Batches that aren't full wait for more transactions as long as another one is under way.

use std::time::{Duration, Instant};

use crate::lane::Lane;

/// How long after a batch another one that isn't full waits for more transactions, and how long a draft that waits
/// isn't made anew.
const GATHERING: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(crate) struct Gathering {
    sent_at: Option<Instant>,
    /// Since when a draft waits, and how many transactions it was made of.
    waits: Option<(Instant, usize)>,
}

impl Gathering {
    /// Whether a batch of a lane waits unless it is full.
    pub(crate) fn may_wait(&self, lanes: &[Lane<'_>], lane: usize) -> bool {
        let is_alone = lanes.iter().all(|lane| lane.open.is_empty());
        let is_recent = self.sent_at.is_some_and(|at| at.elapsed() < GATHERING);
        !is_alone && (is_recent || !lanes[lane].open.is_empty())
    }

    /// Whether another draft, of so many transactions, would wait as the last one does, whichever lane it is for.
    pub(crate) fn is_waiting(&self, count: usize) -> bool {
        self.waits.is_some_and(|(since, earlier)| since.elapsed() < GATHERING && count < 2 * earlier)
    }

    /// Notes that a draft of so many transactions waits.
    pub(crate) fn wait(&mut self, count: usize) {
        self.waits = Some((Instant::now(), count));
    }

    /// Notes that a batch was sent.
    pub(crate) fn sent(&mut self) {
        *self = Self { sent_at: Some(Instant::now()), waits: None };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draft_that_waits_is_made_anew_after_a_while_or_for_twice_as_many() {
        let mut gathering = Gathering::default();
        assert!(!gathering.is_waiting(3));

        // It is still to come, however slow the machine is.
        gathering.waits = Instant::now().checked_add(Duration::from_secs(3_600)).map(|since| (since, 3));
        assert_eq!([3, 5, 6].map(|count| gathering.is_waiting(count)), [true, true, false]);

        gathering.waits = Instant::now().checked_sub(GATHERING).map(|since| (since, 3));
        assert!(!gathering.is_waiting(3));
    }

    #[test]
    fn no_draft_waits_for_one_that_was_sent() {
        let mut gathering = Gathering::default();
        gathering.wait(3);
        gathering.sent();
        assert!(!gathering.is_waiting(3));
    }
}
