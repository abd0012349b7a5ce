//! How much the service runs at a time.

use std::{thread, time::Duration};

/// Limits of the whole service.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The account's concurrency: invocations at a time, beyond which others are refused.
    pub concurrency: usize,
    /// Processes at a time, which is this machine's limit: invocations beyond it wait.
    pub instances: usize,
    /// Processes that start at a time, so that they don't slow each other down.
    pub starts: usize,
    /// How long an idle process is kept.
    pub idle: Duration,
    /// How long a process may take to ask for its first request, besides its function's time-out.
    pub init: Duration,
}

impl Default for Limits {
    /// An account's default quotas, on a small machine.
    fn default() -> Self {
        let cores = thread::available_parallelism().map_or(2, usize::from);
        Self {
            concurrency: 1_000,
            instances: 128,
            starts: 2 * cores,
            idle: Duration::from_secs(300),
            init: Duration::from_secs(10),
        }
    }
}
