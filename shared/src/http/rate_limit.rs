use std::time::Duration;

use lambda_http::http::{HeaderName, HeaderValue};

/// State of a limit, as the headers `RateLimit-Policy` and `RateLimit` have it (IETF draft ietf-httpapi-ratelimit-headers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Counted unit.
    pub unit: LimitUnit,
    /// Most units in a window.
    pub max: u64,
    /// Length of the window.
    pub window: Duration,
    /// Units left.
    pub left: u64,
    /// Time until more are left.
    pub reset: Duration,
}

/// Unit of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitUnit {
    /// Requests, the draft's default.
    Requests,
    /// Billionths of the chain's coin, paid by the service.
    Gwei,
    /// Usernames kept for the artist who gave them up.
    HeldNames,
    /// Bytes of files.
    Bytes,
}

/// Largest integer of a structured header (RFC 9651).
const MAX_INTEGER: u64 = 999_999_999_999_999;

impl RateLimit {
    pub(super) fn headers(&self) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
        let (name, unit) = match self.unit {
            LimitUnit::Requests => ("default", ""),
            LimitUnit::Gwei => ("fees", ";qu=\"gwei\""),
            LimitUnit::HeldNames => ("names", ";qu=\"names\""),
            LimitUnit::Bytes => ("uploads", ";qu=\"content-bytes\""),
        };
        let (max, left) = (self.max.min(MAX_INTEGER), self.left.min(MAX_INTEGER));
        let policy = format!("\"{name}\";q={max};w={}{unit}", self.window.as_secs());
        let limit = format!("\"{name}\";r={left};t={}", self.reset_seconds());
        let header = |(name, value): (&'static str, String)| {
            Some((HeaderName::from_static(name), HeaderValue::from_str(&value).ok()?))
        };
        [("ratelimit-policy", policy), ("ratelimit", limit)].into_iter().filter_map(header)
    }

    /// At least 1.
    pub(super) fn reset_seconds(&self) -> u64 {
        self.reset.as_secs().max(1)
    }
}
