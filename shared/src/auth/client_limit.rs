//! Limits per client network on what is expensive, whether or not a firewall stands in front.

use std::{
    collections::HashSet,
    fmt::Display,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use futures::future::try_join_all;

use crate::{
    http::{ApiError, LimitUnit, RateLimit, Request, StatusCode},
    model::DeviceId,
    store::secret::{RequestCounts, SecretTable},
};

/// At most `max` requests of a client network in each window of the clock, so up to twice as many within one. The wider
/// networks that it is in have a multiple of it ([`Request::client_networks`]).
pub struct ClientLimit {
    counts: RequestCounts,
    action: &'static str,
    max: u32,
    window: Duration,
    networks: fn(&Request) -> Vec<(String, u32)>,
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
        let counts = RequestCounts::new(secrets);
        Self { counts, action, max, window, networks: Request::client_networks, refused: Mutex::default() }
    }

    /// A limit on a network's share of what all have: the same for the widest that one client may have.
    pub fn of_share(secrets: SecretTable, action: &'static str, max: u32, window: Duration) -> Self {
        Self { networks: |request| vec![(request.widest_network(), 1)], ..Self::new(secrets, action, max, window) }
    }

    /// A limit on a client's part of such a share: on the narrowest of its networks alone.
    pub fn of_client(secrets: SecretTable, action: &'static str, max: u32, window: Duration) -> Self {
        Self { networks: |request| vec![(request.client_network(), 1)], ..Self::new(secrets, action, max, window) }
    }

    /// Counts a request and returns the state of the narrowest network's limit; 429 over one of them. A write for each
    /// network, at the same time; none for a network that this process has refused in this window.
    pub async fn admit(&self, request: &Request, now: Duration) -> Result<RateLimit, ApiError> {
        self.admit_all((self.networks)(request), now).await
    }

    /// The same for requests about one thing: each has a limit of its own, and so has the client's provider
    /// ([`Request::client_provider`]), so that no single one fills the room that a thing has.
    pub async fn admit_about(
        &self,
        request: &Request,
        thing: impl Display,
        now: Duration,
    ) -> Result<RateLimit, ApiError> {
        let networks = (self.networks)(request).into_iter().chain(request.client_provider());
        self.admit_all(networks.map(|(network, factor)| (format!("{network}#{thing}"), factor)).collect(), now).await
    }

    /// Counts a request of a known device, which has a limit of its own. One write.
    pub async fn admit_device(&self, device: &DeviceId, now: Duration) -> Result<RateLimit, ApiError> {
        self.admit_all(vec![(format!("device {device}"), 1)], now).await
    }

    /// Counts refusals (401) alone, for proofs that nobody can guess: one that holds passes, whatever others of its network
    /// do. Over the limit, 429 takes the refusal's place.
    pub async fn unless_proved<T>(
        &self,
        request: &Request,
        proof: Result<T, ApiError>,
        now: Duration,
    ) -> Result<T, ApiError> {
        match proof {
            Err(refusal) if refusal.status() == StatusCode::UNAUTHORIZED => {
                self.admit(request, now).await?;
                Err(refusal)
            }
            proof => proof,
        }
    }

    async fn admit_all(&self, networks: Vec<(String, u32)>, now: Duration) -> Result<RateLimit, ApiError> {
        let seconds = self.window.as_secs().max(1);
        let window = now.as_secs() / seconds;
        let end = (window + 1) * seconds;
        let state = |left: u32| RateLimit {
            unit: LimitUnit::Requests,
            max: self.max.into(),
            window: self.window,
            left: left.into(),
            reset: Duration::from_secs(end - now.as_secs()),
        };
        if !self.is_refused(&networks, window) {
            let count = async |network: &str| {
                self.counts.count(&format!("{}#client#{network}", self.action), window, end + seconds).await
            };
            let hits = try_join_all(networks.iter().map(|(network, _)| count(network))).await?;
            let over = networks.iter().zip(&hits).find(|((_, factor), hits)| **hits > self.max.saturating_mul(*factor));
            let Some(((network, _), _)) = over else {
                return Ok(state(self.max.saturating_sub(hits.first().copied().unwrap_or_default())));
            };
            self.refuse(network.clone(), window);
        }
        Err(ApiError::limited("Too many requests of this kind come from your network: wait", &state(0)))
    }

    fn is_refused(&self, networks: &[(String, u32)], window: u64) -> bool {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.window == window && networks.iter().any(|(network, _)| refused.networks.contains(network))
    }

    fn refuse(&self, network: String, window: u64) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.window != window || refused.networks.len() >= MAX_REFUSED {
            *refused = Refused { window, networks: HashSet::new() };
        }
        refused.networks.insert(network);
    }
}
