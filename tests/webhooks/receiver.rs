//! A receiver of webhooks, whose paths say how it behaves.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU16, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header::LOCATION},
    response::{IntoResponse, Response},
};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

/// A request that came.
#[derive(Clone, Debug)]
pub struct Message {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub at: Instant,
}

/// It answers `/hang…` never, `/fail…` with 500, `/redirect…` with a redirect to `/private`, and everything else with the
/// status that was set.
#[derive(Clone)]
pub struct Receiver {
    pub url: String,
    messages: Arc<Mutex<Vec<Message>>>,
    status: Arc<AtomicU16>,
}

impl Message {
    pub fn id(&self) -> &str {
        self.headers["webhook-id"].to_str().expect("an id")
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    /// Whether the published library takes it.
    pub fn is_signed_with(&self, secret: &str) -> bool {
        let library = standardwebhooks::Webhook::new(secret).expect("a secret");
        library.verify(&self.body, &self.headers).is_ok()
    }
}

impl Receiver {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let receiver = Self { url, messages: Arc::default(), status: Arc::new(AtomicU16::new(200)) };
        let app = Router::new().fallback(receive).with_state(receiver.clone());
        tokio::spawn(axum::serve(listener, app).into_future());
        receiver
    }

    pub fn answer(&self, status: u16) {
        self.status.store(status, Ordering::Relaxed);
    }

    pub fn messages(&self) -> Vec<Message> {
        self.messages.lock().expect("nobody panicked").clone()
    }

    /// What came to a path, once it is so many messages.
    pub async fn wait_for(&self, path: &str, count: usize) -> Vec<Message> {
        for _ in 0..300 {
            let found: Vec<_> = self.messages().into_iter().filter(|message| message.path == path).collect();
            if found.len() >= count {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{path} didn't get {count} messages within 30 s: {:?}", self.messages());
    }
}

/// By path, places in the log and hashes of ids.
type Came = HashMap<String, Vec<(u64, u64)>>;

/// A receiver as [`Receiver`], which keeps of each message only its place in the log and a hash of its id.
#[derive(Clone)]
pub struct Tally {
    pub url: String,
    came: Arc<Mutex<Came>>,
}

impl Tally {
    pub async fn start() -> Self {
        let (receiver, came) = (Receiver::start().await, Arc::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let tally = Self { url: format!("http://{}", listener.local_addr().expect("an address")), came };
        let state = (tally.clone(), Receiver { url: tally.url.clone(), ..receiver });
        tokio::spawn(axum::serve(listener, Router::new().fallback(count).with_state(state)).into_future());
        tally
    }

    /// What came to a path, as sequences and hashes of ids.
    pub fn came(&self, path: &str) -> Vec<(u64, u64)> {
        self.came.lock().expect("nobody panicked").get(path).cloned().unwrap_or_default()
    }

    pub fn count(&self, path: &str) -> u64 {
        self.came.lock().expect("nobody panicked").get(path).map_or(0, |came| came.len() as u64)
    }

    pub fn last(&self, path: &str) -> Option<u64> {
        Some(self.came.lock().expect("nobody panicked").get(path)?.last()?.0)
    }
}

async fn count(
    State((tally, receiver)): State<(Tally, Receiver)>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let event: Value = serde_json::from_slice(&body).unwrap_or_default();
    let sequence = event["sequence"].as_str().and_then(|text| text.parse().ok()).unwrap_or_default();
    let mut hasher = DefaultHasher::new();
    headers["webhook-id"].hash(&mut hasher);
    let path = uri.path().to_owned();
    tally.came.lock().expect("nobody panicked").entry(path.clone()).or_default().push((sequence, hasher.finish()));
    answer(&receiver, &path).await
}

async fn receive(State(receiver): State<Receiver>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let path = uri.path().to_owned();
    receiver.messages.lock().expect("nobody panicked").push(Message {
        path: path.clone(),
        headers,
        body,
        at: Instant::now(),
    });
    answer(&receiver, &path).await
}

async fn answer(receiver: &Receiver, path: &str) -> Response {
    if path.starts_with("/hang") {
        return std::future::pending().await;
    }
    if path.starts_with("/redirect") {
        return (StatusCode::TEMPORARY_REDIRECT, [(LOCATION, format!("{}/private", receiver.url))]).into_response();
    }
    let status = if path.starts_with("/fail") { 500 } else { receiver.status.load(Ordering::Relaxed) };
    StatusCode::from_u16(status).expect("a status").into_response()
}

/// The URL of a receiver that announces a long answer, sends some of it for ever or ends, and counts nothing.
pub async fn liar() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = vec![0; 65_536];
                let length = connection.read(&mut request).await.unwrap_or_default();
                let is_endless = request[..length].starts_with(b"POST /0");
                connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n").await.ok();
                while is_endless && connection.write_all(&[b'x'; 4_096]).await.is_ok() {}
            });
        }
    });
    url
}
