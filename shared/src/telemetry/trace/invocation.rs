//! Which calls belong to which invocation.

use std::{
    fmt::Debug,
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use lambda_http::lambda_runtime::{self, Diagnostic, LambdaEvent, service_fn};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::document::{Clock, Daemon, Subsegment, TraceHeader};

/// Most calls of one invocation that have subsegments. A worker's run can make thousands.
const MOST_CALLS: u32 = 500;

tokio::task_local! {
    static TRACE: Option<Arc<Trace>>;
}

/// A sampled invocation.
#[derive(Debug)]
struct Trace {
    root: String,
    /// Id of the invocation's own subsegment, the parent of its calls.
    parent: String,
    daemon: &'static Daemon,
    clock: Clock,
    calls: AtomicU32,
}

/// The subsegment of an invocation; nothing if it isn't sampled.
pub struct Invocation(Option<(Arc<Trace>, Subsegment)>);

impl Invocation {
    /// Begins the subsegment `name` of the segment in Lambda's trace header.
    pub fn begin(name: &str, header: Option<&str>) -> Self {
        Self::sampled(name, header, Daemon::get)
    }

    pub(super) fn sampled(name: &str, header: Option<&str>, daemon: impl FnOnce() -> Option<&'static Daemon>) -> Self {
        let traced = header.and_then(TraceHeader::sampled).and_then(|header| {
            let (daemon, clock) = (daemon()?, Clock::start()?);
            let own = Subsegment::begin(name, header.root, header.parent, daemon, clock)?;
            let (root, parent) = (header.root.to_owned(), own.id().to_owned());
            Some((Arc::new(Trace { root, parent, daemon, clock, calls: AtomicU32::new(0) }), own))
        });
        Self(traced)
    }

    /// Runs `work`, whose calls become subsegments.
    pub fn scope<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        TRACE.scope(self.0.as_ref().map(|(trace, _)| Arc::clone(trace)), work)
    }

    /// Ends the subsegment, which `describe` completes.
    pub fn end(self, describe: impl FnOnce(&mut Subsegment)) {
        let Some((trace, mut own)) = self.0 else { return };
        describe(&mut own);
        let left_out = trace.calls.load(Ordering::Relaxed).saturating_sub(MOST_CALLS);
        if left_out > 0 {
            own.annotate("calls_left_out", left_out);
        }
    }
}

/// Begins the subsegment of a call; `None` if the invocation isn't sampled or has made too many calls.
pub(super) fn call(name: &str) -> Option<Subsegment> {
    let trace = current()?;
    if trace.calls.fetch_add(1, Ordering::Relaxed) >= MOST_CALLS {
        return None;
    }
    Subsegment::begin(name, &trace.root, &trace.parent, trace.daemon, trace.clock)
}

fn current() -> Option<Arc<Trace>> {
    TRACE.try_with(Clone::clone).ok().flatten()
}

/// `work` in the trace of the current task, for a task of its own.
pub fn carried<F: Future>(work: F) -> impl Future<Output = F::Output> + use<F> {
    TRACE.scope(current(), work)
}

/// The event of a schedule; its content is ignored.
#[derive(Debug, Deserialize)]
pub struct ScheduledEvent {}

/// Runs a worker's handler for each event until the environment shuts down. Fails when the Lambda runtime is unreachable.
pub async fn run<A, F, R, E>(handler: impl Fn(LambdaEvent<A>) -> F) -> Result<(), lambda_runtime::Error>
where
    A: DeserializeOwned,
    F: Future<Output = Result<R, E>>,
    R: Serialize,
    E: Into<Diagnostic> + Debug,
{
    let handler = &handler;
    lambda_runtime::run(service_fn(move |event: LambdaEvent<A>| async move {
        let invocation = Invocation::begin("run", event.context.xray_trace_id.as_deref());
        let request_id = event.context.request_id.clone();
        // Boxed: futures nested this deeply exceed the compiler's limits.
        let outcome = invocation.scope(Box::pin(handler(event))).await;
        invocation.end(|own| {
            own.annotate("request_id", request_id);
            if outcome.is_err() {
                own.set("fault", true);
            }
        });
        outcome
    }))
    .await
}

#[cfg(test)]
pub(super) mod tests {
    use std::{net::UdpSocket, time::Duration};

    use serde_json::Value;

    use super::*;

    pub(in crate::telemetry::trace) const SAMPLED: &str =
        "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";

    /// A daemon that keeps what it receives.
    pub(in crate::telemetry::trace) fn daemon() -> (UdpSocket, &'static Daemon) {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let daemon = Daemon::at(&socket.local_addr().unwrap().to_string()).unwrap();
        (socket, Box::leak(Box::new(daemon)))
    }

    pub(in crate::telemetry::trace) fn received(socket: &UdpSocket) -> Vec<Value> {
        let mut buffer = vec![0; 65_536];
        std::iter::from_fn(|| {
            let length = socket.recv(&mut buffer).ok()?;
            let (header, document) = std::str::from_utf8(&buffer[..length]).unwrap().split_once('\n').unwrap();
            assert_eq!(header, r#"{"format": "json", "version": 1}"#);
            Some(serde_json::from_str(document).unwrap())
        })
        .collect()
    }

    #[tokio::test]
    async fn calls_at_once_are_children_of_their_invocation() {
        let (socket, daemon) = daemon();
        let invocation = Invocation::sampled("request", Some(SAMPLED), || Some(daemon));
        let calls = async {
            let (first, second) = (call("first"), call("second"));
            drop(first);
            carried(async { assert!(call("third").is_some()) }).await;
            drop(second);
        };
        invocation.scope(calls).await;
        invocation.end(|own| own.annotate("request_id", "r-1"));
        let documents = received(&socket);
        let [first, third, second, own] = documents.as_slice() else { panic!("{documents:?}") };
        assert_eq!((&own["name"], &own["parent_id"]), (&"request".into(), &"53995c3f42cd8ad8".into()));
        assert_eq!(own["annotations"]["request_id"], "r-1");
        for (call, name) in [(first, "first"), (second, "second"), (third, "third")] {
            assert_eq!((&call["name"], &call["parent_id"]), (&name.into(), &own["id"]));
            assert_eq!(call["trace_id"], "1-5759e988-bd862e3fe1be46a994272793");
            assert_eq!(call["type"], "subsegment");
            let [begin, end] = ["start_time", "end_time"].map(|field| call[field].as_f64().unwrap());
            assert!(own["start_time"].as_f64().unwrap() <= begin && begin <= end, "{call}");
            assert!(end <= own["end_time"].as_f64().unwrap(), "{call}");
        }
        assert_ne!(first["id"], second["id"]);
    }

    #[tokio::test]
    async fn calls_beyond_the_limit_are_counted() {
        let (socket, daemon) = daemon();
        let invocation = Invocation::sampled("run", Some(SAMPLED), || Some(daemon));
        let mut seen = 0;
        let calls = async {
            for _ in 0..MOST_CALLS + 7 {
                drop(call("call"));
                seen += received_now(&socket);
            }
        };
        invocation.scope(calls).await;
        invocation.end(|_| ());
        assert_eq!(seen, MOST_CALLS);
        assert_eq!(received(&socket)[0]["annotations"]["calls_left_out"], 7);
    }

    fn received_now(socket: &UdpSocket) -> u32 {
        socket.set_nonblocking(true).unwrap();
        let count = u32::from(socket.recv(&mut [0; 65_536]).is_ok());
        socket.set_nonblocking(false).unwrap();
        count
    }

    #[tokio::test]
    async fn invocations_that_are_not_sampled_send_nothing() {
        let unsampled = SAMPLED.replace("Sampled=1", "Sampled=0");
        for header in [None, Some(unsampled.as_str()), Some("Sampled=1"), Some("")] {
            let invocation = Invocation::sampled("request", header, || panic!("no socket is needed"));
            invocation.scope(async { assert!(call("call").is_none()) }).await;
            invocation.end(|_| panic!("there is nothing to describe"));
        }
        assert!(call("outside").is_none());
    }
}
