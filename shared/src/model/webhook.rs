use std::str::FromStr;

use serde::{Deserialize, Serialize};
use url::{Host, Url};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    event::LogId,
    invalid::Invalid,
    schema::{format, text_schema},
    text::{display_as_field, serde_as_text, uuid_as_text},
};

/// Id of a webhook (UUID v7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WebhookId(Uuid);

/// Id of a delivery (UUID v7): those of one webhook sort in the order in which they are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeliveryId(Uuid);

/// Where events are sent to: an `https://` address with a name and no port, or a plain one of an IPv4 address with a
/// port, which only the local stack can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookUrl(String);

/// An artist's note on a webhook: up to 200 characters on one line, kept as given. May be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookDescription(String);

/// Whether a webhook gets events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum WebhookStatus {
    /// It gets events.
    Active,
    /// Its artist switched it off.
    Paused,
    /// Its receiver answered 410.
    Gone,
    /// Its receiver failed for five days, or didn't answer its challenge for one.
    Failing,
    /// Its receiver has to answer its challenge first: events wait. Never stored.
    Pending,
}

/// What became of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryStatus {
    /// It waits for its turn or for the next try.
    Pending,
    /// The receiver took it.
    Delivered,
    /// The receiver answered 410.
    Refused,
    /// No try within three days succeeded.
    Expired,
}

text_schema!(WebhookId, "Id of a webhook.", "019a8b7c-5d4e-7f3a-9b2c-1d0e8f7a6b5d", format = format("uuid"));
text_schema!(DeliveryId, "Id of a delivery.", "019a8b7c-5d4e-7f3a-9b2c-1d0e8f7a6b5e", format = format("uuid"));
text_schema!(
    WebhookUrl,
    "Where events are sent to: a public address, without a port.",
    "https://example.com/moments",
    max_length = 2_048_usize,
    pattern = r#"^https://([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9]*(/[!-"$-~]*)?$"#,
);
text_schema!(
    WebhookDescription,
    "An artist's note on a webhook, on one line.",
    "Tells the printer",
    max_length = 200_usize,
    pattern = r"^[^\x00-\x1f\x7f-\x9f]*$",
);

impl WebhookId {
    /// A new id, which sorts after all earlier ones.
    pub fn next() -> Self {
        Self(Uuid::now_v7())
    }
}

impl DeliveryId {
    /// An id of now.
    pub fn next() -> Self {
        Self(Uuid::now_v7())
    }

    /// The id of a log's tick, 4,096 of which are a millisecond.
    pub fn of_tick(tick: u64, log: LogId) -> Self {
        let mut rest = [0; 10];
        let [.., high, low] = (tick & 0xfff).to_be_bytes();
        rest[..2].copy_from_slice(&[high, low]);
        rest[2..].copy_from_slice(&log.0.to_be_bytes());
        Self(uuid::Builder::from_unix_timestamp_millis(tick >> 12, &rest).into_uuid())
    }
}

impl WebhookUrl {
    /// Its parsed form.
    pub fn parsed(&self) -> Option<Url> {
        self.0.parse().ok()
    }

    /// Its host, for mails and lists: the rest may be a secret, or a stranger's words.
    pub fn host(&self) -> String {
        self.parsed().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
    }
}

impl FromStr for WebhookUrl {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.len() > 2_048 {
            return Err(Invalid("must be at most 2048 characters long"));
        }
        if (is_public(text) || is_local(text)) && text.parse::<Url>().is_ok() {
            return Ok(Self(text.to_owned()));
        }
        Err(reason(text))
    }
}

/// Why events can't be sent there.
fn reason(text: &str) -> Invalid {
    let Some(rest) = text.strip_prefix("https://") else {
        return Invalid("must begin with https://, as https://example.com/moments does");
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let Ok(url) = text.parse::<Url>() else {
        return Invalid("must have a host, as https://example.com/moments has");
    };
    let Some(Host::Domain(name)) = url.host() else {
        return Invalid("must have a name as its host, such as example.com, and no IP address");
    };
    if authority.contains('@') {
        return Invalid("must have no user and no password: deliveries are signed");
    }
    if authority.contains(':') {
        return Invalid("must have no port: deliveries go to port 443");
    }
    if !name.contains('.') {
        return Invalid("must have a public name as its host, such as example.com: a tunnel gives this machine one");
    }
    if authority != name {
        return Invalid("must have its host in lower case and in ASCII: xn--bcher-kva.example for bücher.example");
    }
    if url.fragment().is_some() {
        return Invalid("must have no fragment: leave out what begins with #");
    }
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Invalid("must be in ASCII without spaces: percent-encode others");
    }
    if rest.len() > name.len() && !rest[name.len()..].starts_with('/') {
        return Invalid("must have a / behind its host");
    }
    Invalid("must have a host such as example.com")
}

fn is_public(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("https://") else { return false };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let is_label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty() && label.bytes().all(inner) && !label.starts_with('-') && !label.ends_with('-')
    };
    let Some((_, last)) = host.rsplit_once('.') else { return false };
    // A last label that begins with a digit would be a part of an address.
    let is_top = last.starts_with(|first: char| first.is_ascii_lowercase()) && !last.contains('-');
    is_top && host.split('.').all(is_label) && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#')
}

fn is_local(text: &str) -> bool {
    let url = text.parse::<Url>().ok().filter(|url| url.scheme() == "http" && url.fragment().is_none());
    url.is_some_and(|url| matches!(url.host(), Some(Host::Ipv4(_))) && url.port().is_some() && url.username() == "")
}

impl FromStr for WebhookDescription {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.chars().count() > 200 || text.chars().any(char::is_control) {
            return Err(Invalid("must be at most 200 characters long, without control characters"));
        }
        Ok(Self(text.to_owned()))
    }
}

uuid_as_text!(WebhookId, DeliveryId);
display_as_field!(WebhookUrl, WebhookDescription);
serde_as_text!(WebhookUrl);
serde_as_text!(WebhookDescription);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_names_and_plain_addresses_with_a_port_are_urls() {
        for url in [
            "https://example.com",
            "https://a.b-c.example/x?y=1&z",
            "https://1a.example/",
            "http://127.0.0.1:8080/x",
            "http://10.0.0.1:81",
        ] {
            assert!(url.parse::<WebhookUrl>().is_ok(), "{url} was refused");
        }
        for url in [
            "",
            "example.com",
            "http://example.com/",
            "https://localhost/",
            "https://127.0.0.1/",
            "https://1.1.1.1/",
            "https://0x7f.1/",
            "https://[::1]/",
            "https://example.com:8443/",
            "https://user@example.com/",
            "https://user:word@example.com/",
            "https://EXAMPLE.com/",
            "https://example.com/#x",
            "https://example.com/ x",
            "https://example.com?x",
            "https://-a.example/",
            "https://a..example/",
            "https://example.com\\@127.0.0.1/",
            "http://127.0.0.1/",
            "http://user@127.0.0.1:80/",
            "ftp://example.com/",
            "file:///etc/passwd",
        ] {
            assert!(url.parse::<WebhookUrl>().is_err(), "{url} was accepted");
        }
    }

    #[test]
    fn refusals_say_which_part_is_wrong() {
        for (url, part) in [
            ("", "https://"),
            ("example.com", "https://"),
            ("http://example.com/", "https://"),
            ("http://127.0.0.1/", "https://"),
            ("https://", "a host"),
            ("https://127.0.0.1/", "IP address"),
            ("https://[::1]/", "IP address"),
            ("https://localhost/", "tunnel"),
            ("https://example.com:8443/", "port"),
            ("https://example.com:443/", "port"),
            ("https://user:word@example.com/", "password"),
            ("https://EXAMPLE.com/", "lower case"),
            ("https://bücher.example/", "xn--"),
            ("https://example.com/#x", "fragment"),
            ("https://example.com/ x", "percent-encode"),
            ("https://example.com/ü", "percent-encode"),
            ("https://example.com?x", "a / behind"),
            ("https://-a.example/", "such as example.com"),
        ] {
            let words = url.parse::<WebhookUrl>().unwrap_err().to_string();
            assert!(words.contains(part), "{url}: {words}");
        }
    }

    #[test]
    fn ids_of_ticks_sort_as_their_ticks_and_as_ids_of_their_time() {
        let ticks = [1, 0xfff, 0x1000, 0x1001, 1_795_176_000_000 << 12, (1_795_176_000_000 << 12) + 0x100];
        let of_tick = |tick| DeliveryId::of_tick(tick, LogId(u64::MAX));
        let ids = ticks.map(|tick| of_tick(tick).to_string());
        assert!(ids.is_sorted() && ids.iter().collect::<std::collections::BTreeSet<_>>().len() == ids.len(), "{ids:?}");
        let now = DeliveryId::next();
        let (seconds, nanos) = now.0.get_timestamp().unwrap().to_unix();
        let tick = (seconds * 1_000 + u64::from(nanos) / 1_000_000) << 12;
        assert!(DeliveryId::of_tick(tick, LogId(0)) <= now && of_tick(tick + 0x1000) > now);
        assert_eq!(now.0.get_version_num(), of_tick(tick).0.get_version_num());
        assert_ne!(of_tick(tick), DeliveryId::of_tick(tick, LogId(1)), "logs have ids of their own");
    }
}
