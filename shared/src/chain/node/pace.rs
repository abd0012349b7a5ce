//! Paces a process's calls to one node at the rate that it allows, which is learned: a refused call waits and is sent
//! again, and all calls become fewer. Providers limit calls and the size of answers in like words; only the former can be
//! waited for.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use alloy::{
    rpc::json_rpc::{RequestPacket, ResponsePacket},
    transports::{RpcError, TransportError, TransportErrorKind, TransportFut},
};
use lambda_http::Service;
use tokio::{
    sync::Semaphore,
    time::{Instant, sleep_until},
};
use url::Url;

/// Calls in bulk that a node that has refused some gets side by side, and how many times fewer of them in all.
const BULK_AT_ONCE: usize = 16;
const BULK_SHARE: f64 = 2.0;

/// Time over which answers are counted.
const WINDOW: Duration = Duration::from_secs(1);

/// Share of the answered calls a second that is asked for after a refusal, and calls that are added each second at least.
const AFTER_REFUSAL: f64 = 0.8;
const MORE: f64 = 1.0;

/// Paces of all nodes that this process calls.
static PACES: Mutex<BTreeMap<Url, SharedPace>> = Mutex::new(BTreeMap::new());

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

/// What a call that a node refuses waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Times that it is sent.
    attempts: u32,
    /// First wait, doubled after each further refusal up to the longest.
    wait: Duration,
    longest: Duration,
    /// Longest wait that a node may ask for.
    asked: Duration,
    /// No longer than this after it was first sent.
    time: Duration,
    /// Longest wait before it is sent, whatever the pace.
    turn: Duration,
    /// Fewest calls a second that are learned from a refusal.
    least: f64,
    /// Shortest time whose answers tell how many a second the node allows.
    shortest: Duration,
    /// What is added to the calls a second each second, as a share of them.
    share: f64,
}

impl Patience {
    /// Of workers that make many calls and have time.
    pub(super) const READER: Self = Self {
        attempts: 8,
        wait: Duration::from_millis(500),
        longest: Duration::from_millis(500),
        asked: Duration::from_secs(20),
        time: Duration::MAX,
        turn: Duration::MAX,
        least: 1.0,
        shortest: WINDOW,
        share: 0.05,
    };
    /// Of workers with a lone node.
    pub(super) const WORKER: Self = Self {
        attempts: 8,
        wait: Duration::from_millis(100),
        longest: Duration::from_secs(1),
        asked: Duration::from_secs(5),
        // A worker with a turn of many calls has to end in time.
        time: Duration::from_secs(10),
        turn: Duration::MAX,
        least: 8.0,
        shortest: Duration::from_millis(100),
        share: 0.25,
    };
    /// While a client waits for a lone node.
    pub(super) const REQUEST: Self = Self {
        attempts: 4,
        wait: Duration::from_millis(250),
        time: Duration::from_secs(2),
        turn: Duration::from_secs(1),
        ..Self::WORKER
    };
    /// Where another node can be asked.
    pub(super) const ONE_OF_SEVERAL: Self =
        Self { attempts: 2, asked: Duration::ZERO, turn: Duration::from_millis(100), ..Self::WORKER };

    /// The wait after this attempt, given what the node asks for.
    fn wait(self, attempt: u32, asked: Duration) -> Duration {
        let doubled = self.wait.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)));
        doubled.min(self.longest).max(asked.min(self.asked))
    }

    fn is_of_several(self) -> bool {
        self.asked.is_zero()
    }
}

/// A node whose calls are paced.
#[derive(Clone)]
pub(super) struct PacedNode<T> {
    transport: T,
    pace: SharedPace,
    patience: Patience,
    is_bulk: bool,
}

/// The pace of one node's calls, whoever makes them.
#[derive(Clone)]
pub(super) struct SharedPace {
    pace: Arc<Mutex<Pace>>,
    bulk: Arc<Semaphore>,
}

/// The pace of one node's calls.
struct Pace {
    /// Calls a second; `None` until the node refuses one.
    rate: Option<f64>,
    /// When the next call may be sent.
    next: Instant,
    /// When the next one in bulk may ask to be sent.
    next_in_bulk: Instant,
    /// Answers since the window began.
    answers: u32,
    since: Instant,
}

impl SharedPace {
    /// Of the node at `url`.
    pub(super) fn of(url: &Url) -> Self {
        let mut paces = PACES.lock().unwrap_or_else(PoisonError::into_inner);
        paces.entry(url.clone()).or_insert_with(Self::new).clone()
    }

    fn new() -> Self {
        Self { pace: Arc::new(Mutex::new(Pace::new(Instant::now()))), bulk: Arc::new(Semaphore::new(BULK_AT_ONCE)) }
    }

    /// Whether the node has refused a call.
    fn is_learned(&self) -> bool {
        self.with(|pace, _| pace.rate.is_some())
    }

    fn with<R>(&self, act: impl FnOnce(&mut Pace, Instant) -> R) -> R {
        act(&mut self.pace.lock().unwrap_or_else(PoisonError::into_inner), Instant::now())
    }
}

impl<T> PacedNode<T> {
    /// Paces the calls of `transport`, a single node's. Others pass those in bulk.
    pub(super) fn new(transport: T, pace: SharedPace, patience: Patience, is_bulk: bool) -> Self {
        Self { transport, pace, patience, is_bulk }
    }

    async fn wait_for_turn(&self) {
        let longest = self.patience.turn;
        if self.is_bulk {
            until(self.pace.with(|pace, now| pace.turn_in_bulk(now, longest))).await;
        }
        until(self.pace.with(|pace, now| pace.turn(now, longest))).await;
    }
}

/// A timer is late even if it is over.
async fn until(turn: Instant) {
    if turn > Instant::now() {
        sleep_until(turn).await;
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
            let (patience, bulk) = (node.patience, Arc::clone(&node.pace.bulk));
            // Another node would be asked meanwhile.
            let waits_for_place = node.is_bulk && !patience.is_of_several() && node.pace.is_learned();
            let _place = if waits_for_place { bulk.acquire().await.ok() } else { None };
            node.wait_for_turn().await;
            let (start, mut attempt) = (Instant::now(), 1);
            loop {
                let answer = node.transport.call(request.clone()).await;
                let Some(asked) = wait_of(&answer) else {
                    node.pace.with(|pace, now| pace.answered(now, patience));
                    return answer;
                };
                let wait = patience.wait(attempt, asked);
                node.pace.with(|pace, now| pace.refused(now, wait, patience));
                if attempt == patience.attempts || start.elapsed().saturating_add(wait) > patience.time {
                    return answer;
                }
                until(Instant::now() + wait).await;
                node.wait_for_turn().await;
                attempt += 1;
            }
        })
    }
}

impl Pace {
    fn new(now: Instant) -> Self {
        Self { rate: None, next: now, next_in_bulk: now, answers: 0, since: now }
    }

    /// When a call may be sent that wants to be now, and waits no longer than this.
    fn turn(&mut self, now: Instant, longest: Duration) -> Instant {
        let turn = self.next.max(now);
        if let Some(latest) = now.checked_add(longest).filter(|latest| *latest < turn) {
            return latest;
        }
        self.next = self.rate.map_or(turn, |rate| turn + Duration::from_secs_f64(rate.recip()));
        turn
    }

    /// The same for when a call in bulk may ask for its turn: others that come until then are before it.
    fn turn_in_bulk(&mut self, now: Instant, longest: Duration) -> Instant {
        let turn = self.next_in_bulk.max(now);
        if let Some(latest) = now.checked_add(longest).filter(|latest| *latest < turn) {
            return latest;
        }
        self.next_in_bulk = self.rate.map_or(turn, |rate| turn + Duration::from_secs_f64(BULK_SHARE / rate));
        turn
    }

    fn answered(&mut self, now: Instant, patience: Patience) {
        self.answers += 1;
        let elapsed = now.duration_since(self.since);
        if elapsed >= WINDOW {
            self.rate = self.rate.map(|rate| rate + MORE.max(rate * patience.share) * elapsed.as_secs_f64());
            (self.answers, self.since) = (0, now);
        }
    }

    /// Calls that were sent together are refused together, and slow the rest down once.
    fn refused(&mut self, now: Instant, wait: Duration, patience: Patience) {
        let until = now + wait;
        if now >= self.since {
            let elapsed = now.duration_since(self.since).max(patience.shortest);
            let answered = f64::from(self.answers) / elapsed.as_secs_f64();
            let allowed = self.rate.map_or(answered, |rate| rate.min(answered.max(rate / 2.0)));
            self.rate = Some((allowed * AFTER_REFUSAL).max(patience.least));
            (self.answers, self.since) = (0, until);
        }
        self.next = self.next.max(until);
        self.next_in_bulk = self.next_in_bulk.max(until);
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
    // What a contract says is none of the node's.
    code == 429 || has(CALLS) && !has(SIZES) && !message.contains("revert")
}

/// How long a node asks to be left alone; `None` if its answer is none of a limit of calls.
fn wait_of(answer: &Result<ResponsePacket, TransportError>) -> Option<Duration> {
    match answer {
        Ok(response) => {
            let refused = response.as_error().filter(|error| says_too_fast(error.code, &error.message));
            refused.map(|_| Duration::ZERO)
        }
        Err(error) if is_rate_limit(error) => {
            let asked = match error {
                RpcError::Transport(kind) => kind.retry_after(),
                _ => None,
            };
            Some(asked.unwrap_or_default())
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
            "execution reverted: too many requests, capacity reached",
        ] {
            assert!(!says_too_fast(-32005, message), "{message}");
        }
    }

    /// Calls a second of a node that allows so many, in each second from the tenth to the thirtieth.
    fn calls_a_second(allowed: u32, patience: Patience) -> Vec<u32> {
        let start = Instant::now();
        let (mut pace, mut counted) = (Pace::new(start), vec![0; 31]);
        let mut now = start;
        while now < start + Duration::from_secs(30) {
            now = pace.turn(now, Duration::MAX);
            let second = usize::try_from((now - start).as_secs()).unwrap().min(30);
            if counted[second] < allowed {
                counted[second] += 1;
                // The node takes its time, for many calls at once.
                now += Duration::from_millis(1);
                pace.answered(now, patience);
            } else {
                pace.refused(now, patience.wait, patience);
            }
        }
        counted[10..30].to_vec()
    }

    #[test]
    fn pace_stays_near_the_rate_that_the_node_allows() {
        for allowed in [10, 25, 50, 100] {
            for patience in [Patience::READER, Patience::WORKER] {
                let counted = calls_a_second(allowed, patience);
                let mean = counted.iter().sum::<u32>() / 20;
                assert!(mean * 10 >= allowed * 6, "{mean} of {allowed} calls a second: {counted:?}");
            }
        }
    }

    #[test]
    fn node_that_refuses_nothing_is_not_slowed_down() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        for _ in 0..1_000 {
            assert_eq!((pace.turn_in_bulk(now, Duration::MAX), pace.turn(now, Duration::MAX)), (now, now));
            pace.answered(now, Patience::WORKER);
        }
    }

    #[test]
    fn urgent_calls_pass_bulk_ones() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        pace.refused(now, Duration::ZERO, Patience { least: 10.0, ..Patience::WORKER });
        // Twenty wait, half as many a second as may be sent.
        let bulk: Vec<_> = (0..20).map(|_| pace.turn_in_bulk(now, Duration::MAX) - now).collect();
        assert_eq!((bulk[1], bulk[19]), (Duration::from_millis(200), Duration::from_millis(3_800)));
        let mut turn = |now| pace.turn(now, Duration::MAX);
        assert_eq!([turn(now), turn(now)], [now, now + Duration::from_millis(100)]);
        assert_eq!(turn(now + bulk[1]), now + bulk[1], "the second one of those in bulk");
    }

    #[test]
    fn call_that_another_node_can_answer_waits_for_a_moment_and_takes_no_turn() {
        let now = Instant::now();
        let (mut pace, longest) = (Pace::new(now), Patience::ONE_OF_SEVERAL.turn);
        pace.refused(now, 2 * WINDOW, Patience::ONE_OF_SEVERAL);
        for _ in 0..100 {
            assert_eq!(pace.turn(now, longest), now + longest);
        }
        assert_eq!(pace.turn(now, Duration::MAX), now + 2 * WINDOW);
    }

    #[test]
    fn waits_double_and_are_as_long_as_the_node_asks() {
        let wait = |attempt, asked| Patience::WORKER.wait(attempt, Duration::from_millis(asked)).as_millis();
        assert_eq!([wait(1, 0), wait(2, 0), wait(3, 0), wait(7, 0)], [100, 200, 400, 1_000]);
        assert_eq!([wait(1, 3_000), wait(1, 60_000)], [3_000, 5_000]);
        let request = Patience::REQUEST;
        let waits = (1..request.attempts).map(|attempt| request.wait(attempt, Duration::ZERO)).sum::<Duration>();
        assert!(waits < request.time);
    }
}
