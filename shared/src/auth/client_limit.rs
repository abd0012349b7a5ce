//! Limits per client network on what is expensive, whether or not a firewall stands in front.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use crate::{
    http::{ApiError, LimitUnit, RateLimit, Request},
    store::secret::{RequestCounts, SecretTable},
};

/// At most `max` requests of a client network in each window of the clock, so up to twice as many within one.
pub struct ClientLimit {
    counts: RequestCounts,
    action: &'static str,
    max: u32,
    window: Duration,
    refused: Mutex<Refused>,
}

/// Networks that are refused until the window ends: nothing is read or written for them.
#[derive(Default)]
struct Refused {
    window: u64,
    networks: HashSet<String>,
}

const MAX_REFUSED: usize = 10_000;

impl ClientLimit {
    /// A limit on `action`, counted in the secret table.
    pub fn new(secrets: SecretTable, action: &'static str, max: u32, window: Duration) -> Self {
        Self { counts: RequestCounts::new(secrets), action, max, window, refused: Mutex::default() }
    }

    /// Counts a request; 429 over the limit. One write; none for a network that this process has refused in this window.
    pub async fn admit(&self, request: &Request, now: Duration) -> Result<(), ApiError> {
        let seconds = self.window.as_secs().max(1);
        let window = now.as_secs() / seconds;
        let end = (window + 1) * seconds;
        let network = request.client_network();
        if !self.is_refused(&network, window) {
            let subject = format!("{}#client#{network}", self.action);
            if self.counts.count(&subject, window, end + seconds).await? <= self.max {
                return Ok(());
            }
            self.refuse(network, window);
        }
        let (unit, max, reset) = (LimitUnit::Requests, self.max.into(), Duration::from_secs(end - now.as_secs()));
        let state = RateLimit { unit, max, window: self.window, left: 0, reset };
        Err(ApiError::limited("Too many requests of this kind come from your network: wait", &state))
    }

    fn is_refused(&self, network: &str, window: u64) -> bool {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.window == window && refused.networks.contains(network)
    }

    fn refuse(&self, network: String, window: u64) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.window != window || refused.networks.len() >= MAX_REFUSED {
            *refused = Refused { window, networks: HashSet::new() };
        }
        refused.networks.insert(network);
    }
}
