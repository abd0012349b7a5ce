use std::time::Duration;

use lambda_http::http::{HeaderName, HeaderValue};

/// How far a limit on requests is used up, as `RateLimit-Policy` and `RateLimit` tell it (IETF draft
/// ietf-httpapi-ratelimit-headers). Where several apply, the one with the least left is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Most requests.
    pub max: u32,
    /// In how long a time; `None` where the limit isn't one of time alone.
    pub window: Option<Duration>,
    /// How many are left.
    pub left: u32,
    /// How long until there are more.
    pub reset: Duration,
}

impl RateLimit {
    /// The two headers.
    pub(super) fn headers(&self) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
        let window = self.window.map(|window| format!(";w={}", window.as_secs())).unwrap_or_default();
        let policy = format!("\"default\";q={}{window}", self.max);
        let limit = format!("\"default\";r={};t={}", self.left, self.reset_seconds());
        let header = |(name, value): (&'static str, String)| {
            Some((HeaderName::from_static(name), HeaderValue::from_str(&value).ok()?))
        };
        [("ratelimit-policy", policy), ("ratelimit", limit)].into_iter().filter_map(header)
    }

    /// Whole seconds until there are more, one at least.
    pub(super) fn reset_seconds(&self) -> u64 {
        self.reset.as_secs().max(1)
    }
}
