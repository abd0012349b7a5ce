//! Which service files are pinned at.

use std::str::FromStr;

use shared::config::{self, ConfigError};
use url::Url;

/// A pinning service, and how it is asked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Base URL of its API.
    pub endpoint: Url,
    /// ARN of the secret with its access token.
    pub secret: String,
    /// Multiaddrs of nodes that provide the files.
    pub origins: Vec<String>,
}

#[derive(Clone, Debug)]
struct Endpoint(Url);

/// An endpoint that can't be used.
#[derive(Debug, thiserror::Error)]
enum InvalidEndpoint {
    #[error("not a URL: {0}")]
    Url(#[from] url::ParseError),
    #[error("must be an https:// URL without a query")]
    Form,
}

impl Settings {
    /// Reads `PINNING_ENDPOINT`, `PINNING_SECRET` and `PINNING_ORIGINS`; `None` without an endpoint.
    pub fn from_env() -> Result<Option<Self>, ConfigError> {
        if config::optional(config::variables::PINNING_ENDPOINT).is_none() {
            return Ok(None);
        }
        let Endpoint(endpoint) = config::parsed(config::variables::PINNING_ENDPOINT)?;
        let origins = config::optional(config::variables::PINNING_ORIGINS).unwrap_or_default();
        let origins = origins.split(',').filter(|origin| !origin.is_empty()).map(str::to_owned).collect();
        Ok(Some(Self { endpoint, secret: config::required(config::variables::PINNING_SECRET)?, origins }))
    }
}

impl FromStr for Endpoint {
    type Err = InvalidEndpoint;

    fn from_str(text: &str) -> Result<Self, InvalidEndpoint> {
        let url: Url = text.parse()?;
        // The token goes there.
        let is_private = url.scheme() == "https" || url.host_str() == Some("127.0.0.1");
        let is_base = url.query().is_none() && url.fragment().is_none() && !url.cannot_be_a_base();
        if is_private && is_base { Ok(Self(url)) } else { Err(InvalidEndpoint::Form) }
    }
}

#[cfg(test)]
mod tests {
    use super::Endpoint;

    #[test]
    fn endpoint_needs_tls_unless_it_is_local() {
        for (text, is_good) in [
            ("https://pins.example/psa", true),
            ("http://127.0.0.1:5001", true),
            ("http://pins.example/psa", false),
            ("https://pins.example/psa?key=1", false),
            ("mailto:pins@example.com", false),
            ("pins.example", false),
        ] {
            assert_eq!(text.parse::<Endpoint>().is_ok(), is_good, "{text}");
        }
    }
}
