//! URLs of a URI's document: itself for `https://`, gateways for `ipfs://` and `ar://`.

use std::{collections::BTreeSet, net::SocketAddr, str::FromStr};

use url::{Host, Url};

use super::address::is_public;
use crate::config::{self, ConfigError};

/// Gateways of each scheme, and the private sockets that may be connected to.
#[derive(Clone, Debug)]
pub struct Gateways {
    ipfs: Bases,
    arweave: Bases,
    private: PrivateSockets,
}

/// Base URLs; the rest of a URI is appended.
#[derive(Clone, Debug)]
struct Bases(Vec<Url>);

/// Addresses with ports that may be connected to although they aren't public, for self-hosted gateways.
#[derive(Clone, Debug, Default)]
struct PrivateSockets(BTreeSet<SocketAddr>);

/// An invalid list of gateways.
#[derive(Debug, thiserror::Error)]
pub enum InvalidGateways {
    /// An entry that is no URL.
    #[error("not a URL: {0}")]
    Url(#[from] url::ParseError),
    /// A URL that is no base.
    #[error("{0} must start with https:// or http:// and end with a slash")]
    Base(Url),
    /// An entry that is no address with a port.
    #[error("not an IP address with a port: {0}")]
    Socket(#[from] std::net::AddrParseError),
}

impl Gateways {
    /// Reads `IPFS_GATEWAYS` and `ARWEAVE_GATEWAYS`, base URLs separated by commas, the preferred one first (public
    /// ones unless given), and `PRIVATE_GATEWAYS`, IP addresses with ports separated by commas (none unless given).
    pub fn from_env() -> Result<Self, ConfigError> {
        Ok(Self {
            ipfs: config::parsed(config::variables::IPFS_GATEWAYS)?,
            arweave: config::parsed(config::variables::ARWEAVE_GATEWAYS)?,
            private: config::parsed(config::variables::PRIVATE_GATEWAYS)?,
        })
    }

    /// One gateway for both schemes, at a socket that may be private.
    pub fn private(base: &str, socket: SocketAddr) -> Result<Self, InvalidGateways> {
        let bases: Bases = base.parse()?;
        Ok(Self { ipfs: bases.clone(), arweave: bases, private: PrivateSockets(BTreeSet::from([socket])) })
    }

    /// The URLs of a URI's document in the order in which to try them; `failures` rotates the gateways. Empty for a URI
    /// that can't be fetched.
    pub(crate) fn urls(&self, uri: &str, failures: u32) -> Vec<Url> {
        if let Some(rest) = uri.strip_prefix("ipfs://") {
            // Some URIs repeat the path of the gateways.
            self.ipfs.urls(rest.strip_prefix("ipfs/").unwrap_or(rest), failures)
        } else if let Some(rest) = uri.strip_prefix("ar://") {
            self.arweave.urls(rest, failures)
        } else if uri.starts_with("https://") {
            uri.parse().into_iter().collect()
        } else {
            Vec::new()
        }
    }

    /// Whether a URL may be requested: HTTP or HTTPS at the default port, and a literal address must be public. Listed
    /// private sockets are exempt.
    pub(crate) fn allow(&self, url: &Url) -> bool {
        let ip = match url.host() {
            Some(Host::Ipv4(address)) => Some(address.into()),
            Some(Host::Ipv6(address)) => Some(address.into()),
            Some(Host::Domain(_)) => None,
            None => return false,
        };
        let listed = |(ip, port)| self.private.0.contains(&SocketAddr::new(ip, port));
        if ip.zip(url.port_or_known_default()).is_some_and(listed) {
            return matches!(url.scheme(), "http" | "https");
        }
        matches!((url.scheme(), url.port_or_known_default()), ("https", Some(443)) | ("http", Some(80)))
            && ip.is_none_or(is_public)
    }
}

impl Bases {
    fn urls(&self, rest: &str, failures: u32) -> Vec<Url> {
        let id = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let is_id = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if id.is_empty() || !id.bytes().all(is_id) {
            return Vec::new();
        }
        let first = usize::try_from(failures).unwrap_or_default() % self.0.len().max(1);
        let (later, sooner) = self.0.split_at(first);
        // A path must not leave the base's folder.
        let within =
            |base: &Url| base.join(&format!("./{rest}")).ok().filter(|url| url.path().starts_with(base.path()));
        sooner.iter().chain(later).filter_map(within).collect()
    }
}

impl FromStr for Bases {
    type Err = InvalidGateways;

    fn from_str(list: &str) -> Result<Self, InvalidGateways> {
        let base = |text: &str| {
            let url: Url = text.trim().parse()?;
            let is_base =
                matches!(url.scheme(), "https" | "http") && url.path().ends_with('/') && url.query().is_none();
            if is_base { Ok(url) } else { Err(InvalidGateways::Base(url)) }
        };
        list.split(',').map(base).collect::<Result<_, _>>().map(Self)
    }
}

impl FromStr for PrivateSockets {
    type Err = InvalidGateways;

    fn from_str(list: &str) -> Result<Self, InvalidGateways> {
        let sockets = list.split(',').map(str::trim).filter(|socket| !socket.is_empty());
        Ok(Self(sockets.map(str::parse).collect::<Result<_, _>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gateways() -> Gateways {
        let (ipfs, arweave) = (
            "https://a.example/ipfs/,https://b.example/ipfs/".parse().unwrap(),
            "https://arweave.net/,https://ardrive.net/".parse().unwrap(),
        );
        Gateways { ipfs, arweave, private: "127.0.0.1:4010, [::1]:4010".parse().unwrap() }
    }

    fn urls(uri: &str, failures: u32) -> Vec<String> {
        gateways().urls(uri, failures).iter().map(Url::to_string).collect()
    }

    #[test]
    fn failures_rotate_the_gateways() {
        let [a, b] = ["https://a.example/ipfs/bafy/1%202.json", "https://b.example/ipfs/bafy/1%202.json"];
        assert_eq!(urls("ipfs://bafy/1 2.json", 0), [a, b]);
        assert_eq!(urls("ipfs://bafy/1 2.json", 1), [b, a]);
        assert_eq!(urls("ipfs://ipfs/bafy/1 2.json", 2), [a, b]);
        assert_eq!(urls("ar://a-_b", 0), ["https://arweave.net/a-_b", "https://ardrive.net/a-_b"]);
        assert_eq!(urls("https://c.example/x?y#z", 5), ["https://c.example/x?y#z"]);
    }

    #[test]
    fn invalid_uris_and_paths_out_of_the_gateway_have_no_url() {
        for uri in [
            "ipfs://",
            "ipfs:///bafy",
            "ipfs://../admin",
            "ipfs://%2e%2e/admin",
            "ipfs://bafy/../../admin",
            "ipfs://bafy/%2e%2e/%2E%2e/admin",
            "ipfs://a:b@c",
            "ipfs://?x",
            "ar://#",
            "http://a.example/x",
            "data:,x",
            "file:///etc/passwd",
            "gopher://a.example",
            "ipns://a",
            "https://",
            "",
        ] {
            assert_eq!(urls(uri, 0), Vec::<String>::new(), "{uri}");
        }
    }

    #[test]
    fn only_public_addresses_at_default_ports_are_allowed() {
        for url in [
            "https://a.example/",
            "http://a.example/",
            "https://a.example:443/",
            "https://1.1.1.1/",
            "https://[2606:4700::1111]/",
            "http://127.0.0.1:4010/ipfs/x",
            "http://[::1]:4010/",
        ] {
            assert!(gateways().allow(&url.parse().unwrap()), "{url} was refused");
        }
        for url in [
            "https://a.example:8443/",
            "http://a.example:22/",
            "https://a.example:80/",
            "http://a.example:443/",
            "http://127.0.0.1/",
            "http://127.0.0.1:4011/",
            "https://10.0.0.1/",
            "http://169.254.169.254/latest/meta-data",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://017700000001/",
            "http://127.1/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]:4010/",
            "http://[::ffff:10.0.0.1]/",
            "https://[64:ff9b::a00:1]/",
            "http://192.168.1.1/",
            "http://100.64.0.1/",
            "ftp://a.example/",
            "file:///etc/passwd",
            "data:,x",
        ] {
            assert!(!gateways().allow(&url.parse().unwrap()), "{url} was accepted");
        }
    }

    #[test]
    fn invalid_gateway_lists_are_refused() {
        for list in ["", "x", "https://a.example/ipfs", "ftp://a.example/", "https://a.example/?x=/"] {
            assert!(list.parse::<Bases>().is_err(), "{list:?} was accepted");
        }
        for list in ["localhost:1", "127.0.0.1", "127.0.0.1:x"] {
            assert!(list.parse::<PrivateSockets>().is_err(), "{list:?} was accepted");
        }
    }
}
