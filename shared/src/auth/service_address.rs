//! The address under which the service shows itself: in messages that wallets sign, and in mails.

use url::Url;

use crate::{config, http::Request};

/// The service's own address.
#[derive(Clone, Debug)]
pub struct ServiceAddress {
    configured: Option<Url>,
}

impl ServiceAddress {
    /// Reads `TOKEN_ISSUER`. If it is no URL, or missing, the address is the one that the gateway was asked at.
    pub fn from_env() -> Self {
        let issuer: Option<Url> =
            config::optional(config::variables::TOKEN_ISSUER).and_then(|issuer| issuer.parse().ok());
        Self { configured: issuer.filter(Url::has_host) }
    }

    /// The base URL.
    pub fn of(&self, request: &Request) -> Result<Url, url::ParseError> {
        self.configured.clone().map_or_else(|| request.base_url().parse(), Ok)
    }
}
