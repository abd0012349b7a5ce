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
        self.take_at(Instant::now())
    }

    fn take_at(&self, now: Instant) -> bool {
        let mut level = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let (tokens, then) = *level;
        let filled = tokens + now.duration_since(then).as_secs_f64() * self.throttle.rate;
        let tokens = filled.min(self.throttle.burst);
        let is_taken = tokens >= 1.0;
        *level = (if is_taken { tokens - 1.0 } else { tokens }, now);
        is_taken
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_bucket_holds_its_burst_and_fills_at_its_rate() {
        let bucket = Bucket::new(Throttle { rate: 4.0, burst: 3.0 });
        let start = Instant::now();
        let taken = |milliseconds| bucket.take_at(start + Duration::from_millis(milliseconds));
        assert_eq!([(); 4].map(|()| taken(0)), [true, true, true, false]);
        assert_eq!([200, 300, 310].map(taken), [false, true, false]);
        assert_eq!([(); 4].map(|()| taken(60_000)), [true, true, true, false], "no more than its burst");
    }
}
