//! Throttles: token buckets.

use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

/// A throttle of a route.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throttle {
    /// Requests a second in the long run.
    pub rate: f64,
    /// Requests at once.
    pub burst: f64,
}

/// A bucket that holds `burst` tokens and gets `rate` a second.
pub(super) struct Bucket {
    throttle: Throttle,
    level: Mutex<(f64, Instant)>,
}

impl Bucket {
    /// A full bucket.
    pub(super) fn new(throttle: Throttle) -> Self {
        Self { throttle, level: Mutex::new((throttle.burst, Instant::now())) }
    }

    /// Takes a token, if there is one.
    pub(super) fn take(&self) -> bool {
        let mut level = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let (tokens, then) = *level;
        let now = Instant::now();
        let filled = tokens + now.duration_since(then).as_secs_f64() * self.throttle.rate;
        let tokens = filled.min(self.throttle.burst);
        let is_taken = tokens >= 1.0;
        *level = (if is_taken { tokens - 1.0 } else { tokens }, now);
        is_taken
    }
}
