//! Deadline of the request that is being answered. The calls that it makes end by then, and none begins after it.

use std::time::Duration;

use tokio::time::Instant;

tokio::task_local! {
    static DEADLINE: Instant;
}

/// Runs `work` under a deadline.
pub async fn until<F: Future>(end: Instant, work: F) -> F::Output {
    DEADLINE.scope(end, work).await
}

/// Time left; `None` without a deadline, as in workers.
pub fn left() -> Option<Duration> {
    DEADLINE.try_with(|end| end.saturating_duration_since(Instant::now())).ok()
}

/// Whether less time is left than `needed`.
pub fn is_within(needed: Duration) -> bool {
    left().is_some_and(|left| left < needed)
}

/// Whether no time is left.
pub fn has_passed() -> bool {
    left().is_some_and(|left| left.is_zero())
}

/// Runs `work` up to the deadline; `None` if it isn't done by then. After the deadline it doesn't begin.
pub async fn before<F: Future>(work: F) -> Option<F::Output> {
    match left() {
        None => Some(work.await),
        Some(left) if left.is_zero() => None,
        Some(left) => tokio::time::timeout(left, work).await.ok(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[tokio::test]
    async fn nothing_begins_after_the_deadline() {
        let began = AtomicBool::new(false);
        let work = async { began.store(true, Ordering::Relaxed) };
        assert_eq!(until(Instant::now(), before(work)).await, None);
        assert!(!began.load(Ordering::Relaxed));
    }

    #[tokio::test]
    async fn work_ends_at_the_deadline_and_only_there() {
        let never = std::future::pending::<()>();
        assert_eq!(until(Instant::now() + Duration::from_millis(5), before(never)).await, None);
        assert_eq!(until(Instant::now() + Duration::from_secs(60), before(async { 1 })).await, Some(1));
        assert_eq!(before(async { 2 }).await, Some(2), "workers have no deadline");
    }
}
