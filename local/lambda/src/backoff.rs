//! Pauses between attempts.

use std::{iter, time::Duration};

/// Doubling pauses: `first`, and at most `longest`.
pub(crate) fn backoff(first: Duration, longest: Duration) -> impl Iterator<Item = Duration> {
    iter::successors(Some(first), move |pause| Some((*pause * 2).min(longest)))
}
