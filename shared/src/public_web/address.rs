//! Addresses that may be connected to for a URL that anyone has chosen: public ones only.

use std::{
    collections::BTreeSet,
    io,
    net::{AddrParseError, IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    str::FromStr,
};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::net::lookup_host;
use url::Host;

use crate::{
    config::{self, ConfigError},
    model::WebhookUrl,
};

/// Private addresses that webhooks may be sent to: none but in the local stack.
#[derive(Clone, Debug, Default)]
pub struct PrivateReceivers(BTreeSet<Ipv4Addr>);

impl PrivateReceivers {
    /// Reads `PRIVATE_WEBHOOKS`, IPv4 addresses separated by commas (none unless given).
    pub fn from_env() -> Result<Self, ConfigError> {
        config::parsed(config::variables::PRIVATE_WEBHOOKS)
    }

    /// Whether events may be sent to a receiver. A name is checked again when it is resolved.
    pub fn admit(&self, url: &WebhookUrl) -> bool {
        let url = url.parsed();
        url.is_some_and(|url| match (url.scheme(), url.host()) {
            ("https", Some(Host::Domain(_))) => url.port().is_none(),
            ("http", Some(Host::Ipv4(address))) => self.0.contains(&address),
            _ => false,
        })
    }
}

impl FromStr for PrivateReceivers {
    type Err = AddrParseError;

    fn from_str(list: &str) -> Result<Self, AddrParseError> {
        let addresses = list.split(',').map(str::trim).filter(|address| !address.is_empty());
        Ok(Self(addresses.map(str::parse).collect::<Result<_, _>>()?))
    }
}

/// Resolves names to public addresses only. The client connects to exactly these, so DNS rebinding has no effect.
pub struct PublicResolver;

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let all = lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = all.filter(|address| is_public(address.ip())).collect();
            if public.is_empty() {
                return Err(io::Error::other(format!("{} has no public address", name.as_str())).into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

/// Whether an address is public: not private, shared, loopback, link-local, multicast, reserved, for documentation or an
/// embedded IPv4 address (IANA's special-purpose address registries).
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let special = match address.octets() {
        // This network, private, loopback, multicast and reserved.
        [0 | 10 | 127 | 224..=255, ..] => true,
        // Carrier-grade NAT.
        [100, second, ..] => second & 0b1100_0000 == 64,
        // Link-local, with the clouds' metadata services.
        [169, 254, ..] => true,
        [172, second, ..] => second & 0b1111_0000 == 16,
        // Protocol assignments, documentation, 6to4 relays, private.
        [192, 0, 0 | 2, _] | [192, 88, 99, _] | [192, 168, ..] => true,
        // Benchmarks, documentation.
        [198, 18 | 19, ..] | [198, 51, 100, _] | [203, 0, 113, _] => true,
        _ => false,
    };
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    // Global unicast is 2000::/3. Outside are loopback, mapped and translated IPv4 addresses (::ffff:0:0/96,
    // 64:ff9b::/96, 64:ff9b:1::/48), unique local, link-local and multicast.
    match address.segments() {
        // Protocol assignments, Teredo included.
        [0x2001, 0..0x0200, ..] => false,
        // Documentation.
        [0x2001, 0x0db8, ..] | [0x3fff, 0..0x1000, ..] => false,
        // 6to4, which embeds an IPv4 address.
        [0x2002, ..] => false,
        [0x2000..0x4000, ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receivers_are_public_names_or_listed_addresses() {
        let (none, one): (PrivateReceivers, PrivateReceivers) =
            (PrivateReceivers::default(), "127.0.0.1, 10.0.0.7".parse().unwrap());
        for (url, of_none, of_one) in [
            ("https://example.com/x", true, true),
            ("http://127.0.0.1:8080/x", false, true),
            ("http://10.0.0.7:80/", false, false),
            ("http://10.0.0.7:81/", false, true),
            ("http://10.0.0.8:81/", false, false),
        ] {
            let Ok(url) = url.parse() else {
                assert!(!of_one, "{url} isn't even a URL of a webhook");
                continue;
            };
            assert_eq!((none.admit(&url), one.admit(&url)), (of_none, of_one), "{url}");
        }
        assert!("127.0.0.1:80".parse::<PrivateReceivers>().is_err());
    }

    #[tokio::test]
    async fn a_name_of_private_addresses_resolves_to_none() {
        assert!(PublicResolver.resolve("localhost".parse().unwrap()).await.is_err());
    }

    #[test]
    fn public_addresses_are_accepted() {
        for address in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.0.0.1",
            "128.0.0.1",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.1",
            "192.0.3.1",
            "192.167.0.1",
            "192.169.0.1",
            "198.17.255.255",
            "198.20.0.0",
            "203.0.114.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "2a00::1",
            "2001:200::1",
            "3ffe::1",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address} was refused");
        }
    }

    #[test]
    fn special_purpose_addresses_are_refused() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.0",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "169.254.0.1",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::ffff:169.254.169.254",
            "64:ff9b::7f00:1",
            "64:ff9b::8.8.8.8",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:1ff::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:808:808::1",
            "3fff::1",
            "3fff:fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fdff::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address} was accepted");
        }
    }
}
