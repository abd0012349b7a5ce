//! Limits on what all clients do together. Requests add to counters and never wait for each other.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use crate::store::{
    StoreError,
    secret::{RequestCounts, SecretTable},
};

/// At most `max` in each window of the clock, in all.
pub struct TotalLimit {
    counts: RequestCounts,
    subject: &'static str,
    max: u32,
    window: Duration,
    /// The window that this process knows to be used up.
    full: AtomicU64,
}

/// Rows among which the counts are spread, so that no row takes more writes than DynamoDB gives one.
const SHARDS: u32 = 16;

impl TotalLimit {
    /// A limit on `subject`, counted in the secret table.
    pub fn new(secrets: SecretTable, subject: &'static str, max: u32, window: Duration) -> Self {
        Self { counts: RequestCounts::new(secrets), subject, max, window, full: AtomicU64::new(u64::MAX) }
    }

    /// Counts one; `false` when `max` is used up. One write, near the end of the limit a few more.
    pub async fn admits(&self, now: Duration) -> Result<bool, StoreError> {
        let seconds = self.window.as_secs().max(1);
        let window = now.as_secs() / seconds;
        if self.full.load(Ordering::Relaxed) == window {
            return Ok(false);
        }
        let first = getrandom::u32().unwrap_or_default() % SHARDS;
        for shard in (first..SHARDS).chain(0..first) {
            let share = share(self.max, shard);
            let subject = format!("{}#{shard}", self.subject);
            if share > 0 && self.counts.count(&subject, window, (window + 2) * seconds).await? <= share {
                return Ok(true);
            }
        }
        self.full.store(window, Ordering::Relaxed);
        Ok(false)
    }

    /// Time until the next window.
    pub fn wait(&self, now: Duration) -> Duration {
        let seconds = self.window.as_secs().max(1);
        Duration::from_secs(seconds - now.as_secs() % seconds)
    }
}

/// A shard's part of `max`.
fn share(max: u32, shard: u32) -> u32 {
    max / SHARDS + u32::from(shard < max % SHARDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_the_limit() {
        for max in [0, 1, 15, 16, 17, 3_000, u32::MAX] {
            assert_eq!((0..SHARDS).map(|shard| u64::from(share(max, shard))).sum::<u64>(), u64::from(max), "{max}");
        }
    }
}
