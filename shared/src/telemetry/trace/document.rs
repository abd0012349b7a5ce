//! A subsegment's document, and the daemon that takes it.
//! <https://docs.aws.amazon.com/xray/latest/devguide/xray-api-segmentdocuments.html>

use std::{
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    sync::OnceLock,
    time::{Duration, Instant},
};

use serde_json::{Map, Value, json};

use crate::{clock, config};

/// Line in front of each document.
const HEADER: &str = "{\"format\": \"json\", \"version\": 1}\n";

/// Largest datagram that the daemon takes.
const MAX_BYTES: usize = 64_000;

/// Longest name.
const MAX_NAME: usize = 200;

/// Lambda's trace header of a sampled invocation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TraceHeader<'a> {
    pub(super) root: &'a str,
    /// Id of the function's segment.
    pub(super) parent: &'a str,
}

impl<'a> TraceHeader<'a> {
    /// Parses `Root=…;Parent=…;Sampled=1`; `None` if it isn't sampled or malformed.
    pub(super) fn sampled(header: &'a str) -> Option<Self> {
        let field = |name| header.split(';').find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='));
        let is_id = |id: &&str| (16..=35).contains(&id.len()) && id.bytes().all(|c| c == b'-' || c.is_ascii_hexdigit());
        let header = Self { root: field("Root").filter(is_id)?, parent: field("Parent").filter(is_id)? };
        (field("Sampled") == Some("1")).then_some(header)
    }
}

/// X-Ray's daemon.
#[derive(Debug)]
pub(super) struct Daemon(UdpSocket);

impl Daemon {
    /// The daemon at `AWS_XRAY_DAEMON_ADDRESS`, which Lambda sets.
    pub(super) fn get() -> Option<&'static Self> {
        static DAEMON: OnceLock<Option<Daemon>> = OnceLock::new();
        DAEMON.get_or_init(|| Self::at(&config::optional(config::variables::AWS_XRAY_DAEMON_ADDRESS)?)).as_ref()
    }

    /// The daemon at `host:port`, or at the second of `tcp:host:port udp:host:port`.
    pub(super) fn at(address: &str) -> Option<Self> {
        let mut parts = address.split_whitespace().filter(|part| !part.starts_with("tcp:"));
        let address: SocketAddr = parts.next().map(|part| part.strip_prefix("udp:").unwrap_or(part))?.parse().ok()?;
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
        socket.set_nonblocking(true).ok()?;
        socket.connect(address).ok()?;
        Some(Self(socket))
    }

    fn send(&self, document: &Value) {
        let datagram = format!("{HEADER}{document}");
        if datagram.len() <= MAX_BYTES {
            // A trace must never fail or delay what it describes.
            let _ = self.0.send(datagram.as_bytes());
        }
    }
}

/// The clock of an invocation: the times of its subsegments are consistent, whatever happens to the machine's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    start: Duration,
    began: Instant,
}

impl Clock {
    pub(super) fn start() -> Option<Self> {
        Some(Self { start: clock::now().ok()?, began: Instant::now() })
    }

    fn seconds(self) -> f64 {
        (self.start + self.began.elapsed()).as_secs_f64()
    }
}

/// A piece of work in a trace, sent when it is dropped.
#[derive(Debug)]
pub struct Subsegment {
    daemon: &'static Daemon,
    id: String,
    clock: Clock,
    fields: Map<String, Value>,
}

impl Subsegment {
    pub(super) fn begin(name: &str, root: &str, parent: &str, daemon: &'static Daemon, clock: Clock) -> Option<Self> {
        let id = format!("{:016x}", getrandom::u64().ok()?);
        let allowed = |c: char| if c.is_alphanumeric() || " _.:/%&#=+\\-@".contains(c) { c } else { '_' };
        let name: String = name.chars().take(MAX_NAME).map(allowed).collect();
        let fields = [
            ("name", name.into()),
            ("id", id.as_str().into()),
            ("trace_id", root.into()),
            ("parent_id", parent.into()),
            ("type", "subsegment".into()),
            ("start_time", clock.seconds().into()),
        ];
        let fields = fields.map(|(field, value)| (field.to_owned(), value)).into_iter().collect();
        Some(Self { daemon, id, clock, fields })
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Sets a field of the document.
    pub fn set(&mut self, field: &str, value: impl Into<Value>) {
        self.fields.insert(field.to_owned(), value.into());
    }

    /// Sets an entry of the object in `field`.
    pub(super) fn add_to(&mut self, field: &str, name: &str, value: impl Into<Value>) {
        if let Value::Object(entries) = self.fields.entry(field).or_insert_with(|| json!({})) {
            entries.insert(name.to_owned(), value.into());
        }
    }

    /// Adds an annotation, by which traces can be found.
    pub fn annotate(&mut self, name: &str, value: impl Into<Value>) {
        self.add_to("annotations", name, value);
    }

    /// Drops it unsent.
    pub(super) fn discard(mut self) {
        self.fields.clear();
    }

    /// Notes the status of a response, and whether it is the caller's error (4xx) or a fault (5xx).
    pub fn answered(&mut self, status: u16) {
        self.add_to("http", "response", json!({"status": status}));
        match status {
            429 => ["error", "throttle"].into_iter().for_each(|field| self.set(field, true)),
            400..500 => self.set("error", true),
            500.. => self.set("fault", true),
            _ => {}
        }
    }
}

impl Drop for Subsegment {
    fn drop(&mut self) {
        if self.fields.is_empty() {
            return;
        }
        self.set("end_time", self.clock.seconds());
        self.daemon.send(&Value::Object(std::mem::take(&mut self.fields)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_parsed_in_any_order_and_only_if_sampled() {
        let (root, parent) = ("1-5759e988-bd862e3fe1be46a994272793", "53995c3f42cd8ad8");
        let expected = Some(TraceHeader { root, parent });
        assert_eq!(TraceHeader::sampled(&format!("Root={root};Parent={parent};Sampled=1")), expected);
        assert_eq!(TraceHeader::sampled(&format!("Sampled=1; Parent={parent};Root={root};Lineage=a:0")), expected);
        for header in ["", ";;", "Root=;Parent=;Sampled=1", "Root=\"x\";Parent=53995c3f42cd8ad8;Sampled=1"] {
            assert_eq!(TraceHeader::sampled(header), None, "{header}");
        }
        assert_eq!(TraceHeader::sampled(&format!("Root={root};Parent={parent};Sampled=0")), None);
        assert_eq!(TraceHeader::sampled(&format!("Root={root};Sampled=1")), None);
    }

    #[test]
    fn daemon_addresses_have_two_forms() {
        let peer = |address: &str| Daemon::at(address).map(|daemon| daemon.0.peer_addr().unwrap().to_string());
        assert_eq!(peer("127.0.0.1:2000").as_deref(), Some("127.0.0.1:2000"));
        assert_eq!(peer("tcp:127.0.0.1:2000 udp:127.0.0.1:2001").as_deref(), Some("127.0.0.1:2001"));
        assert_eq!(peer("nonsense"), None);
        assert_eq!(peer(""), None);
    }

    #[test]
    fn an_absent_daemon_and_a_document_too_large_are_no_error() {
        let closed = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let daemon = Daemon::at(&closed.to_string()).unwrap();
        for size in [1, 1, 1, MAX_BYTES] {
            daemon.send(&json!({"metadata": "x".repeat(size)}));
        }
    }
}
