use std::{
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch};

use crate::{Error, history::Dice};

/// Is told the target, the request and the answer of a call.
type Observer = Box<dyn Fn(&str, &[u8], &[u8]) + Send + Sync>;

/// A proxy of DynamoDB that throttles, takes parts of batches, or fails. As one that is only slow it serves nodes, too.
#[derive(Clone)]
pub struct DatabaseProxy {
    /// URL of the proxy.
    pub url: String,
    upstream: Arc<Mutex<String>>,
    client: reqwest::Client,
    /// Writes that succeed before all fail.
    pub left: Arc<AtomicI64>,
    /// Writes before the one that alone fails.
    pub before_failure: Arc<AtomicI64>,
    /// Writes that are answered before that one fails.
    pub answered_before_failure: Arc<AtomicU64>,
    answered: Arc<AtomicU64>,
    /// Whether no call is answered any more, nor done if it comes later: for somebody who is killed then.
    pub holds: Arc<AtomicBool>,
    busy: Arc<AtomicU64>,
    refused: Arc<Mutex<Option<String>>>,
    missed: Arc<Mutex<Option<String>>>,
    missed_once: Arc<Mutex<Option<String>>>,
    /// Writes that failed for what they contained.
    pub refusals: Arc<AtomicU64>,
    /// Of this many calls, one is throttled; 0 for none.
    pub throttled: Arc<AtomicU64>,
    /// Whether calls wait until this is no longer so.
    pub waits: Arc<watch::Sender<bool>>,
    /// Milliseconds that each call takes longer, at random before or after the database does it.
    pub delay: Arc<AtomicU64>,
    observer: Arc<OnceLock<Observer>>,
    turn: Arc<AtomicU64>,
}

impl DatabaseProxy {
    /// Starts a proxy; [`DatabaseProxy::lead_to`] comes next.
    pub async fn start() -> Result<Self, Error> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let proxy = Self {
            url: format!("http://{}", listener.local_addr()?),
            upstream: Arc::default(),
            client: reqwest::Client::new(),
            left: Arc::new(AtomicI64::new(i64::MAX)),
            before_failure: Arc::new(AtomicI64::new(i64::MAX)),
            answered_before_failure: Arc::default(),
            answered: Arc::default(),
            holds: Arc::default(),
            busy: Arc::default(),
            refused: Arc::default(),
            missed: Arc::default(),
            missed_once: Arc::default(),
            refusals: Arc::default(),
            throttled: Arc::default(),
            waits: Arc::default(),
            delay: Arc::default(),
            observer: Arc::default(),
            turn: Arc::default(),
        };
        let server = axum::serve(listener, Router::new().fallback(forward).with_state(proxy.clone()));
        tokio::spawn(async move { server.await });
        Ok(proxy)
    }

    /// Sets the URL of the database.
    pub fn lead_to(&self, upstream: &str) {
        upstream.clone_into(&mut self.upstream.lock().expect("nobody panicked"));
    }

    /// Has writes that contain a text fail; `None` for none.
    pub fn refuse(&self, text: Option<String>) {
        *self.refused.lock().expect("nobody panicked") = text;
    }

    /// Has reads of single rows find nothing whose requests contain a text; `None` for none.
    pub fn miss(&self, text: Option<String>) {
        *self.missed.lock().expect("nobody panicked") = text;
    }

    /// Has the next read of a single row find nothing whose request contains a text.
    pub fn miss_once(&self, text: &str) {
        *self.missed_once.lock().expect("nobody panicked") = Some(text.to_owned());
    }

    fn misses(&self, body: &[u8]) -> bool {
        let body = String::from_utf8_lossy(body);
        let missed = self.missed.lock().expect("nobody panicked");
        let mut once = self.missed_once.lock().expect("nobody panicked");
        missed.as_ref().is_some_and(|text| body.contains(text))
            || once.take_if(|text| body.contains(text.as_str())).is_some()
    }

    fn refuses(&self, body: &[u8]) -> bool {
        let refused = self.refused.lock().expect("nobody panicked");
        let refuses = refused.as_ref().is_some_and(|text| String::from_utf8_lossy(body).contains(text));
        self.refusals.fetch_add(u64::from(refuses), Ordering::Relaxed);
        refuses
    }

    /// Has calls told as they are answered, throttled ones left out. The first observer stays.
    pub fn observe(&self, observer: impl Fn(&str, &[u8], &[u8]) + Send + Sync + 'static) {
        self.observer.get_or_init(|| Box::new(observer));
    }

    /// Whether it does any call at the moment.
    pub fn is_busy(&self) -> bool {
        self.busy.load(Ordering::SeqCst) > 0
    }

    async fn ask(&self, headers: &HeaderMap, body: Bytes) -> Option<(StatusCode, Bytes)> {
        let url = self.upstream.lock().expect("nobody panicked").clone();
        let mut request = self.client.post(url).body(body);
        for name in ["authorization", "content-type", "x-amz-date", "x-amz-target"] {
            if let Some(value) = headers.get(name) {
                request = request.header(name, value);
            }
        }
        let answer = request.send().await.ok()?;
        Some((answer.status(), answer.bytes().await.ok()?))
    }
}

fn error(code: &str) -> (StatusCode, Bytes) {
    let body = json!({"__type": format!("com.amazonaws.dynamodb.v20120810#{code}"), "message": code});
    (StatusCode::BAD_REQUEST, body.to_string().into())
}

/// Sleeping for no time takes up to a millisecond.
async fn pause(milliseconds: u64) {
    if milliseconds > 0 {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }
}

/// A call that is being done.
struct Busy(Arc<AtomicU64>);

impl Busy {
    fn begin(calls: &Arc<AtomicU64>) -> Self {
        calls.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(calls))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn forward(State(proxy): State<DatabaseProxy>, headers: HeaderMap, body: Bytes) -> (StatusCode, Bytes) {
    let busy = Busy::begin(&proxy.busy);
    if !proxy.holds.load(Ordering::SeqCst) {
        let answer = answer(&proxy, &headers, body).await;
        if !proxy.holds.load(Ordering::SeqCst) {
            return answer;
        }
    }
    drop(busy);
    std::future::pending().await
}

async fn answer(proxy: &DatabaseProxy, headers: &HeaderMap, body: Bytes) -> (StatusCode, Bytes) {
    drop(proxy.waits.subscribe().wait_for(|waits| !waits).await);
    let target = headers.get("x-amz-target").and_then(|it| it.to_str().ok()).unwrap_or_default().to_owned();
    if target.contains("Write") && proxy.left.fetch_sub(1, Ordering::Relaxed) <= 0 {
        return error("AccessDeniedException");
    }
    if target.contains("Write") && proxy.before_failure.fetch_sub(1, Ordering::Relaxed) == 0 {
        while proxy.answered.load(Ordering::Relaxed) < proxy.answered_before_failure.load(Ordering::Relaxed) {
            pause(1).await;
        }
        return error("AccessDeniedException");
    }
    if target.contains("Write") && proxy.refuses(&body) {
        return error("AccessDeniedException");
    }
    if target.ends_with(".GetItem") && proxy.misses(&body) {
        return (StatusCode::OK, Bytes::from_static(b"{}"));
    }
    let throttled = proxy.throttled.load(Ordering::Relaxed);
    let mut dice = Dice::at(proxy.turn.fetch_add(1, Ordering::Relaxed) << 8);
    let nothing = (StatusCode::BAD_GATEWAY, Bytes::new());
    let delay = proxy.delay.load(Ordering::Relaxed);
    let before = dice.roll(delay + 1);
    pause(before).await;
    if throttled == 0 || dice.roll(throttled) != 0 || target.contains("Query") {
        let (status, answer) = proxy.ask(headers, body.clone()).await.unwrap_or(nothing);
        pause(delay - before).await;
        proxy.answered.fetch_add(u64::from(target.contains("Write")), Ordering::Relaxed);
        if let Some(observer) = proxy.observer.get() {
            observer(&target, &body, &answer);
        }
        return (status, answer);
    }
    if !target.contains("BatchWrite") || dice.roll(2) == 0 {
        return error("ProvisionedThroughputExceededException");
    }
    // A part is taken and the rest given back.
    let mut request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut unprocessed = json!({});
    for (table, rows) in request["RequestItems"].as_object_mut().into_iter().flatten() {
        let rows = rows.as_array_mut().expect("rows");
        let rest = rows.split_off(rows.len().div_ceil(2));
        if !rest.is_empty() {
            unprocessed[table] = json!(rest);
        }
    }
    match proxy.ask(headers, request.to_string().into()).await {
        Some((StatusCode::OK, _)) => (StatusCode::OK, json!({"UnprocessedItems": unprocessed}).to_string().into()),
        other => other.unwrap_or(nothing),
    }
}
