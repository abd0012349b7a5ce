//! Where a service is.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use url::{Host, Url};

/// Base address of a service's API, without a slash at its end, such as `https://moments.example/api`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ApiAddress(String);

/// Why a text is no address of a service.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAddress {
    #[error("must be the service's base address, such as https://moments.example/api")]
    Form,
    #[error("must begin with https://, since it gets your key: only this machine's own may begin with http://")]
    Unencrypted,
}

impl ApiAddress {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ApiAddress {
    type Err = NoAddress;

    fn from_str(text: &str) -> Result<Self, NoAddress> {
        let url = Url::parse(text.trim()).map_err(|_| NoAddress::Form)?;
        let is_here = match url.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => return Err(NoAddress::Form),
        };
        let has_more = url.query().is_some() || url.fragment().is_some();
        if has_more || !url.username().is_empty() || url.password().is_some() {
            return Err(NoAddress::Form);
        }
        match url.scheme() {
            "https" => {}
            "http" if is_here => {}
            "http" => return Err(NoAddress::Unencrypted),
            _ => return Err(NoAddress::Form),
        }
        Ok(Self(url.as_str().trim_end_matches('/').to_owned()))
    }
}

impl TryFrom<String> for ApiAddress {
    type Error = NoAddress;

    fn try_from(text: String) -> Result<Self, NoAddress> {
        text.parse()
    }
}

impl From<ApiAddress> for String {
    fn from(address: ApiAddress) -> Self {
        address.0
    }
}

impl fmt::Display for ApiAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let read = |text: &str| text.parse::<ApiAddress>().map(|address| address.0);
        assert_eq!(read("https://Moments.example/api/"), Ok("https://moments.example/api".to_owned()));
        assert_eq!(read("https://moments.example"), Ok("https://moments.example".to_owned()));
        for own in ["http://127.0.0.1:3000/api", "http://localhost:3000/api", "http://[::1]:3000/api"] {
            assert_eq!(read(own), Ok(own.to_owned()));
        }
        assert_eq!(read("http://moments.example/api"), Err(NoAddress::Unencrypted));
        assert_eq!(read("http://127.0.0.1.example/api"), Err(NoAddress::Unencrypted));
        for wrong in ["", "moments.example/api", "ftp://a.example", "https://a.example/?x=1", "https://me:pw@a.example"]
        {
            assert_eq!(read(wrong), Err(NoAddress::Form), "{wrong}");
        }
    }
}
