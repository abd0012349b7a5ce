use std::time::Duration;

use lambda_http::http::{HeaderName, HeaderValue};

/// How far a limit is used up, as `RateLimit-Policy` and `RateLimit` tell it (IETF draft
/// ietf-httpapi-ratelimit-headers). Where several apply, the one with the least left is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// What it counts.
    pub unit: LimitUnit,
    /// Most of it.
    pub max: u64,
    /// In how long a time.
    pub window: Duration,
    /// How much is left.
    pub left: u64,
    /// How long until there is more.
    pub reset: Duration,
}

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitUnit {
    /// Requests, which is what the draft takes for granted.
    Requests,
    /// Gas that the service pays for.
    Gas,
    /// Usernames that were given up and are kept for whoever had them.
    HeldNames,
}

/// The largest number that a structured header can have (RFC 9651).
const MAX_INTEGER: u64 = 999_999_999_999_999;

impl RateLimit {
    /// The two headers.
    pub(super) fn headers(&self) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
        let (name, unit) = match self.unit {
            LimitUnit::Requests => ("default", ""),
            LimitUnit::Gas => ("gas", ";qu=\"gas\""),
            LimitUnit::HeldNames => ("names", ";qu=\"names\""),
        };
        let (max, left) = (self.max.min(MAX_INTEGER), self.left.min(MAX_INTEGER));
        let policy = format!("\"{name}\";q={max};w={}{unit}", self.window.as_secs());
        let limit = format!("\"{name}\";r={left};t={}", self.reset_seconds());
        let header = |(name, value): (&'static str, String)| {
            Some((HeaderName::from_static(name), HeaderValue::from_str(&value).ok()?))
        };
        [("ratelimit-policy", policy), ("ratelimit", limit)].into_iter().filter_map(header)
    }

    /// Whole seconds until there is more, one at least.
    pub(super) fn reset_seconds(&self) -> u64 {
        self.reset.as_secs().max(1)
    }
}
