//! Paces the calls to one node at the rate that it allows, which is learned: a refused call waits and is sent again, and
//! all calls become fewer. Providers limit calls and the size of answers in like words; only the former can be waited for.

use std::{
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use alloy::{
    rpc::json_rpc::{RequestPacket, ResponsePacket},
    transports::{RpcError, TransportError, TransportErrorKind, TransportFut},
};
use lambda_http::Service;
use tokio::time::{Instant, sleep_until};

/// Times that a refused call is sent.
const ATTEMPTS: u32 = 8;

/// Shortest wait after a refusal, and the longest that a node may ask for.
const WAIT: Duration = Duration::from_millis(500);
const MAX_WAIT: Duration = Duration::from_secs(20);

/// Time over which answers are counted.
const WINDOW: Duration = Duration::from_secs(1);

/// Share of the answered calls a second that is asked for after a refusal, and calls that are added each second.
const AFTER_REFUSAL: f64 = 0.8;
const MORE: f64 = 1.0;
/// What is added each second as a share of the rate, where that is more.
const SHARE: f64 = 0.05;

/// Words for too many calls.
/// Sources: <https://docs.alchemy.com/reference/throughput>, <https://docs.infura.io/how-to/avoid-rate-limiting>,
/// <https://www.quicknode.com/docs/error-references>.
const CALLS: &[&str] = &[
    "rate limit",
    "rate-limit",
    "ratelimit",
    "too many request",
    "request limit",
    "request rate",
    "request count",
    "requests per second",
    "calls per second",
    "compute units per second",
    "/second",
    "/sec",
    "credits limited",
    "rps limit",
    "throughput",
    "capacity",
    "throttl",
];

/// Words for too large an answer, which decide where both are found.
const SIZES: &[&str] = &["range", "result", "response size", "too many blocks", "too many logs"];

/// A node whose calls are paced.
#[derive(Clone)]
pub struct PacedNode<T> {
    transport: T,
    pace: Arc<Mutex<Pace>>,
}

/// The pace of one node's calls.
struct Pace {
    /// Calls a second; `None` until the node refuses one.
    rate: Option<f64>,
    /// When the next call may be sent.
    next: Instant,
    /// Answers since the window began.
    answers: u32,
    since: Instant,
}

impl<T> PacedNode<T> {
    /// Paces the calls of `transport`, a single node's.
    pub fn new(transport: T) -> Self {
        Self { transport, pace: Arc::new(Mutex::new(Pace::new(Instant::now()))) }
    }

    fn with<R>(&self, act: impl FnOnce(&mut Pace, Instant) -> R) -> R {
        act(&mut self.pace.lock().unwrap_or_else(PoisonError::into_inner), Instant::now())
    }
}

impl<T> Service<RequestPacket> for PacedNode<T>
where
    T: Service<RequestPacket, Response = ResponsePacket, Error = TransportError, Future = TransportFut<'static>>,
    T: Clone + Send + Sync + 'static,
{
    type Response = ResponsePacket;
    type Error = TransportError;
    type Future = TransportFut<'static>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.transport.poll_ready(context)
    }

    fn call(&mut self, request: RequestPacket) -> TransportFut<'static> {
        let mut node = self.clone();
        Box::pin(async move {
            let mut attempt = 1;
            loop {
                sleep_until(node.with(Pace::turn)).await;
                let answer = node.transport.call(request.clone()).await;
                match wait_of(&answer) {
                    None => {
                        node.with(Pace::answered);
                        return answer;
                    }
                    Some(_) if attempt == ATTEMPTS => return answer,
                    Some(wait) => node.with(|pace, now| pace.refused(now, wait)),
                }
                attempt += 1;
            }
        })
    }
}

impl Pace {
    fn new(now: Instant) -> Self {
        Self { rate: None, next: now, answers: 0, since: now }
    }

    /// When a call may be sent that wants to be now.
    fn turn(&mut self, now: Instant) -> Instant {
        let turn = self.next.max(now);
        self.next = self.rate.map_or(turn, |rate| turn + Duration::from_secs_f64(rate.recip()));
        turn
    }

    fn answered(&mut self, now: Instant) {
        self.answers += 1;
        let elapsed = now.duration_since(self.since);
        if elapsed >= WINDOW {
            self.rate = self.rate.map(|rate| rate + MORE.max(rate * SHARE) * elapsed.as_secs_f64());
            (self.answers, self.since) = (0, now);
        }
    }

    /// Calls that were sent together are refused together, and slow the rest down once.
    fn refused(&mut self, now: Instant, wait: Duration) {
        let until = now + wait;
        if now >= self.since {
            let answered = f64::from(self.answers) / now.duration_since(self.since).max(WINDOW).as_secs_f64();
            let allowed = self.rate.map_or(answered, |rate| rate.min(answered.max(rate / 2.0)));
            self.rate = Some((allowed * AFTER_REFUSAL).max(1.0));
            (self.answers, self.since) = (0, until);
        }
        self.next = self.next.max(until);
    }
}

/// Whether an error says that calls come too fast, whatever they ask for.
pub(super) fn is_rate_limit(error: &TransportError) -> bool {
    match error {
        RpcError::ErrorResp(payload) => says_too_fast(payload.code, &payload.message),
        RpcError::Transport(TransportErrorKind::HttpError(http)) => http.status == 429,
        RpcError::Transport(TransportErrorKind::HttpErrorWithRetryAfter { .. }) => true,
        _ => false,
    }
}

fn says_too_fast(code: i64, message: &str) -> bool {
    let message = message.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|words| message.contains(words));
    code == 429 || has(CALLS) && !has(SIZES)
}

/// How long to wait before a call is sent again; `None` if its answer is none of a limit of calls.
fn wait_of(answer: &Result<ResponsePacket, TransportError>) -> Option<Duration> {
    match answer {
        Ok(response) => {
            let refused = response.as_error().filter(|error| says_too_fast(error.code, &error.message));
            refused.map(|_| WAIT)
        }
        Err(error) if is_rate_limit(error) => {
            let asked = match error {
                RpcError::Transport(kind) => kind.retry_after(),
                _ => None,
            };
            Some(asked.unwrap_or(WAIT).clamp(WAIT, MAX_WAIT))
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_calls_and_of_answers_are_distinguished() {
        for (code, message) in [
            (429, "Your app has exceeded its compute units per second capacity."),
            (-32005, "daily request count exceeded, request rate limited"),
            (-32005, "project ID request rate exceeded"),
            (-32007, "100/second request limit reached - reduce calls per second or upgrade your account"),
            (-32012, "credits limited to 6000/sec"),
            (-32016, "over rate limit"),
            (-32000, "Too many requests"),
            (-32005, "You've exceeded the RPS limit available on the current plan."),
        ] {
            assert!(says_too_fast(code, message), "{message}");
        }
        for message in [
            "query returned more than 10000 results",
            "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range",
            "eth_getLogs is limited to a 10,000 range",
            "query exceeds max block range",
            "block range is too wide: rate limited to 100 blocks",
            "limit exceeded",
            "header not found",
        ] {
            assert!(!says_too_fast(-32005, message), "{message}");
        }
    }

    /// Calls a second of a node that allows so many, in each second from the tenth to the thirtieth.
    fn calls_a_second(allowed: u32) -> Vec<u32> {
        let start = Instant::now();
        let (mut pace, mut counted) = (Pace::new(start), vec![0; 31]);
        let mut now = start;
        while now < start + Duration::from_secs(30) {
            now = pace.turn(now);
            let second = usize::try_from((now - start).as_secs()).unwrap().min(30);
            if counted[second] < allowed {
                counted[second] += 1;
                // The node takes its time, for many calls at once.
                now += Duration::from_millis(1);
                pace.answered(now);
            } else {
                pace.refused(now, WAIT);
            }
        }
        counted[10..30].to_vec()
    }

    #[test]
    fn pace_stays_near_the_rate_that_the_node_allows() {
        for allowed in [10, 25, 50, 100] {
            let counted = calls_a_second(allowed);
            let mean = counted.iter().sum::<u32>() / 20;
            assert!(mean * 10 >= allowed * 6, "{mean} of {allowed} calls a second: {counted:?}");
        }
    }

    #[test]
    fn node_that_refuses_nothing_is_not_slowed_down() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        for _ in 0..1_000 {
            assert_eq!(pace.turn(now), now);
            pace.answered(now);
        }
    }
}
