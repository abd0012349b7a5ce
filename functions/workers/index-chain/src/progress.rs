//! How much of a history is read, and how long the rest takes.

use std::time::{Duration, Instant};

use crate::follow::Followed;

/// Time between two reports.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// Blocks behind the newest one from which there is a history to report on.
const HISTORY: u64 = 1_000;

/// Progress of one chain since a run began.
pub struct HistoryProgress {
    start: Instant,
    reported: Option<Duration>,
    first: Option<u64>,
    events: usize,
}

/// How much of a history is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgressReport {
    /// Indexed blocks in a hundred, of those from the chain's first one on.
    pub percent: u64,
    /// Events applied a second.
    pub events_per_second: u64,
    /// Blocks indexed a second.
    pub blocks_per_second: u64,
    /// Seconds until the newest block at this rate; `None` at a standstill.
    pub seconds_left: Option<u64>,
}

impl Default for HistoryProgress {
    fn default() -> Self {
        Self { start: Instant::now(), reported: None, first: None, events: 0 }
    }
}

impl HistoryProgress {
    /// Counts a pass, and reports on a history. `since` is the chain's first block.
    pub fn passed(&mut self, since: u64, followed: &Followed) -> Option<ProgressReport> {
        self.counted(since, followed, self.start.elapsed())
    }

    /// Whether it is time to log a report.
    pub fn is_due(&mut self) -> bool {
        let elapsed = self.start.elapsed();
        let is_due = self.reported.is_none_or(|at| elapsed.saturating_sub(at) >= REPORT_EVERY);
        if is_due {
            self.reported = Some(elapsed);
        }
        is_due
    }

    fn counted(&mut self, since: u64, followed: &Followed, elapsed: Duration) -> Option<ProgressReport> {
        let Followed { next_block, events, behind, first_block, .. } = *followed;
        let first = *self.first.get_or_insert(first_block);
        self.events += events;
        if behind < HISTORY {
            return None;
        }
        let rate = |count: u64| count.saturating_mul(1000) / u64::try_from(elapsed.as_millis()).unwrap_or(1).max(1);
        let blocks = next_block.saturating_sub(first);
        let done = next_block.saturating_sub(since);
        Some(ProgressReport {
            percent: done.saturating_mul(100) / done.saturating_add(behind).max(1),
            events_per_second: rate(self.events as u64),
            blocks_per_second: rate(blocks),
            seconds_left: (blocks > 0).then(|| behind.saturating_mul(elapsed.as_secs().max(1)) / blocks),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_estimates_remaining_time_from_blocks_read_so_far() {
        let mut progress = HistoryProgress::default();
        let pass = |first_block, next_block, behind, events| Followed {
            first_block,
            next_block,
            behind,
            events,
            ..Followed::default()
        };
        let at = Duration::from_secs;
        let report = progress.counted(1_000, &pass(2_000, 3_000, 9_000, 500), at(10));
        let expected =
            ProgressReport { percent: 18, events_per_second: 50, blocks_per_second: 100, seconds_left: Some(90) };
        assert_eq!(report, Some(expected));
        let report = progress.counted(1_000, &pass(3_000, 7_000, 5_000, 1_500), at(20));
        let expected =
            ProgressReport { percent: 54, events_per_second: 100, blocks_per_second: 250, seconds_left: Some(20) };
        assert_eq!(report, Some(expected));
        let stuck = HistoryProgress::default().counted(0, &pass(5, 5, 2_000, 0), at(10));
        assert_eq!(stuck.and_then(|report| report.seconds_left), None);
        assert_eq!(progress.counted(1_000, &pass(7_000, 12_000, 0, 0), at(30)), None);
    }
}
