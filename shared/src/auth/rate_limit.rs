//! Rate limits over sliding windows. Hits are counted in slices of a sixtieth of the window, so that a limit of any
//! size fits in one small row. A slice counts until its end has left the window, so no window exceeds its limit.

use std::time::Duration;

use crate::{
    http::{ApiError, LimitUnit, RateLimit},
    store::{
        StoreError,
        engine::backoff,
        secret::{RateWindow, RateWindows},
    },
};

/// At most `max` hits of `subject` within any `window`.
#[derive(Clone, Debug)]
pub struct Limit {
    /// Key of the counter, such as an action and an address.
    pub subject: String,
    /// Most hits.
    pub max: u32,
    /// Length of the window.
    pub window: Duration,
    /// Message of the 429 answer.
    pub message: &'static str,
}

const SLICES: u64 = 60;

/// Limits that are used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Time until a hit is admitted.
    pub wait: Duration,
    message: &'static str,
    state: RateLimit,
}

impl From<Refused> for ApiError {
    fn from(refused: Refused) -> Self {
        Self::limited(refused.message, &refused.state)
    }
}

/// Counts a hit against all limits, or none if one is used up; their states, in order. A read and a transaction.
///
/// # Errors
/// 429 when a limit is used up; 503 when concurrent requests keep changing the same counters.
pub async fn admit(windows: &RateWindows, limits: &[Limit], now: Duration) -> Result<Vec<RateLimit>, ApiError> {
    Ok(try_admit(windows, limits, now).await??)
}

/// The same, with limits that are used up apart from errors.
pub async fn try_admit(
    windows: &RateWindows,
    limits: &[Limit],
    now: Duration,
) -> Result<Result<Vec<RateLimit>, Refused>, ApiError> {
    const ATTEMPTS: u32 = 8;
    let subjects: Vec<&str> = limits.iter().map(|limit| limit.subject.as_str()).collect();
    for attempt in 0..ATTEMPTS {
        let mut loaded = windows.load(&subjects).await?;
        let mut refused: Option<(&Limit, Duration)> = None;
        let mut states = Vec::new();
        for (limit, window) in limits.iter().zip(&mut loaded) {
            match limit.hit(window, now) {
                Ok(state) => states.push(state),
                Err(wait) if refused.is_none_or(|(_, longest)| longest < wait) => refused = Some((limit, wait)),
                Err(_) => {}
            }
        }
        if let Some((limit, wait)) = refused {
            return Ok(Err(Refused { wait, message: limit.message, state: limit.state(0, wait) }));
        }
        if windows.save(subjects.iter().copied().zip(loaded).collect()).await? {
            return Ok(Ok(states));
        }
        tokio::time::sleep(backoff(attempt)).await;
    }
    let contention = StoreError::Contention("rate windows");
    Err(ApiError::unavailable("Too many ask for this at once: try again in a moment", 1, contention))
}

impl Limit {
    /// Counts a hit at `now` (since the Unix epoch); an error holds the wait until a hit is admitted.
    fn hit(&self, window: &mut RateWindow, now: Duration) -> Result<RateLimit, Duration> {
        let slice = (self.window / u32::try_from(SLICES).unwrap_or(1)).max(Duration::from_millis(1)).as_millis();
        let leaves_at = |number: u64| slice * (u128::from(number) + 1) + self.window.as_millis();
        let now = now.as_millis();

        window.slices.retain(|&number, _| leaves_at(number) > now);
        let mut excess = (window.slices.values().sum::<u32>() + 1).saturating_sub(self.max);
        if excess > 0 {
            for (&number, &hits) in &window.slices {
                excess = excess.saturating_sub(hits);
                if excess == 0 {
                    let wait = u64::try_from(leaves_at(number) - now).unwrap_or(u64::MAX);
                    return Err(Duration::from_secs(wait.div_ceil(1000)));
                }
            }
            return Err(self.window);
        }
        let current = u64::try_from(now / slice).unwrap_or(u64::MAX);
        *window.slices.entry(current).or_default() += 1;
        window.expires_at = u64::try_from(leaves_at(current) / 1000 + 1).unwrap_or(u64::MAX);
        let oldest = window.slices.keys().next().copied().unwrap_or(current);
        let reset = u64::try_from((leaves_at(oldest) - now).div_ceil(1000)).unwrap_or(u64::MAX);
        let left = self.max.saturating_sub(window.slices.values().sum());
        Ok(self.state(left, Duration::from_secs(reset)))
    }

    fn state(&self, left: u32, reset: Duration) -> RateLimit {
        let (unit, window) = (LimitUnit::Requests, self.window);
        RateLimit { unit, max: self.max.into(), window, left: left.into(), reset }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(max: u32, seconds: u64) -> Limit {
        Limit { subject: String::new(), max, window: Duration::from_secs(seconds), message: "" }
    }

    #[test]
    fn no_window_exceeds_its_limit_and_the_wait_is_accurate() {
        let limit = limit(3, 600);
        let mut window = RateWindow::default();
        let mut admitted: Vec<u64> = Vec::new();
        for now in (1_000_000..1_010_000).step_by(7) {
            match limit.hit(&mut window, Duration::from_secs(now)) {
                Ok(state) => {
                    admitted.push(now);
                    assert!(state.left < 3 && state.reset <= Duration::from_secs(610), "{state:?}");
                }
                Err(wait) => {
                    assert!(wait <= Duration::from_secs(610), "told to wait {wait:?}");
                    let mut later = window.clone();
                    assert!(limit.hit(&mut later, Duration::from_secs(now) + wait).is_ok(), "told to wait too little");
                    let early = Duration::from_secs(now) + wait - Duration::from_secs(2);
                    assert!(limit.hit(&mut window.clone(), early).is_err(), "told to wait too long");
                }
            }
            assert!(window.slices.len() <= 61);
        }
        for hits in admitted.windows(4) {
            assert!(hits[3] - hits[0] >= 600, "four hits within 600 s: {hits:?}");
        }
        assert!(admitted.len() >= 45, "only {} hits in 10,000 s", admitted.len());
    }

    #[test]
    fn a_limit_of_0_admits_nothing() {
        assert!(limit(0, 60).hit(&mut RateWindow::default(), Duration::from_secs(1_000)).is_err());
    }
}
