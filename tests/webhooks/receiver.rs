//! A receiver of webhooks, whose paths say how it behaves.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header::LOCATION},
    response::{IntoResponse, Response},
};
use serde_json::Value;
use tests::{eventually, history::Dice};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::steps::Steps;

/// A request that came.
#[derive(Clone, Debug)]
pub struct Message {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// It answers `/hang…` never, `/fail…` with 500, `/gone…` with 410, `/redirect…` with a redirect to `/private`, and
/// everything else with the status that was set. Challenges are kept apart, and answered except at `/unasked…`, which takes
/// them as anything else, and `/echo…`, which sends back what it gets.
#[derive(Clone)]
pub struct Receiver {
    pub url: String,
    messages: Arc<Mutex<Vec<Message>>>,
    challenges: Arc<Mutex<Vec<Message>>>,
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
        let receiver =
            Self { url, messages: Arc::default(), challenges: Arc::default(), status: Arc::new(AtomicU16::new(200)) };
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

    /// The challenges that came to a path.
    pub fn challenges(&self, path: &str) -> Vec<Message> {
        let challenges = self.challenges.lock().expect("nobody panicked");
        challenges.iter().filter(|message| message.path == path).cloned().collect()
    }

    /// What came to a path, once it is so many messages.
    pub async fn wait_for(&self, path: &str, count: usize) -> Vec<Message> {
        eventually(format!("{count} messages to {path}"), async || {
            let found: Vec<_> = self.messages().into_iter().filter(|message| message.path == path).collect();
            (found.len() >= count).then_some(found)
        })
        .await
    }
}

/// The path of a request that isn't counted.
const LAST: &str = "/last";

/// By path, places in the log and hashes of ids.
type Came = HashMap<String, Vec<(u64, u64)>>;

/// A receiver as [`Receiver`], which keeps of each message only its place in the log and a hash of its id. It answers
/// `/unsteady…` now and then with 500.
#[derive(Clone)]
pub struct Tally {
    pub url: String,
    /// Of this many messages to `/unsteady…`, it refuses one at random; 0 for none.
    pub refuses: Arc<AtomicU64>,
    /// Whether messages wait for their answers.
    pub holds: Arc<AtomicBool>,
    /// Is told of messages and answers, and says when there are no more.
    pub steps: Steps,
    refused: Arc<AtomicU64>,
    dice: Arc<Mutex<Dice>>,
    came: Arc<Mutex<Came>>,
}

impl Tally {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let tally = Self {
            url: format!("http://{}", listener.local_addr().expect("an address")),
            refuses: Arc::default(),
            holds: Arc::default(),
            steps: Steps::default(),
            refused: Arc::default(),
            dice: Arc::new(Mutex::new(Dice::at(0))),
            came: Arc::default(),
        };
        let receiver = Receiver {
            url: tally.url.clone(),
            messages: Arc::default(),
            challenges: Arc::default(),
            status: Arc::new(AtomicU16::new(200)),
        };
        let state = (tally.clone(), receiver);
        tokio::spawn(axum::serve(listener, Router::new().fallback(count).with_state(state)).into_future());
        tally
    }

    /// Waits until all has come that a killed sender had sent: what arrived first is read first.
    pub async fn read_all(&self) {
        reqwest::Client::new().post(format!("{}{LAST}", self.url)).send().await.expect("an answer");
    }

    /// What came to a path, as sequences and hashes of ids.
    pub fn came(&self, path: &str) -> Vec<(u64, u64)> {
        self.came.lock().expect("nobody panicked").get(path).cloned().unwrap_or_default()
    }

    pub fn count(&self, path: &str) -> u64 {
        self.came.lock().expect("nobody panicked").get(path).map_or(0, |came| came.len() as u64)
    }

    /// How many messages it refused.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    fn refuses(&self, path: &str) -> bool {
        let one_of = self.refuses.load(Ordering::Relaxed);
        let refuses =
            path.starts_with("/unsteady") && one_of > 0 && self.dice.lock().expect("nobody panicked").roll(one_of) == 0;
        self.refused.fetch_add(u64::from(refuses), Ordering::Relaxed);
        refuses
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
    if uri.path() == LAST {
        return StatusCode::OK.into_response();
    }
    let event: Value = serde_json::from_slice(&body).unwrap_or_default();
    let sequence = event["sequence"].as_str().and_then(|text| text.parse().ok()).unwrap_or_default();
    let mut hasher = DefaultHasher::new();
    headers["webhook-id"].hash(&mut hasher);
    let path = uri.path().to_owned();
    tally.steps.note_message(&path);
    tally.came.lock().expect("nobody panicked").entry(path.clone()).or_default().push((sequence, hasher.finish()));
    tally.steps.stop_here().await;
    while tally.holds.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let answer = match tally.refuses(&path) {
        true => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        false => answer(&receiver, &path).await,
    };
    tally.steps.note_answer(&path, answer.status().is_success());
    tally.steps.stop_here().await;
    answer
}

async fn receive(State(receiver): State<Receiver>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let path = uri.path().to_owned();
    let message = Message { path: path.clone(), headers, body };
    let Some(challenge) = local::receiver::answer(&message.body) else {
        receiver.messages.lock().expect("nobody panicked").push(message);
        return answer(&receiver, &path).await;
    };
    let echo = message.body.clone();
    receiver.challenges.lock().expect("nobody panicked").push(message);
    match path {
        path if path.starts_with("/unasked") => answer(&receiver, &path).await,
        path if path.starts_with("/echo") => echo.into_response(),
        _ => challenge.into_response(),
    }
}

async fn answer(receiver: &Receiver, path: &str) -> Response {
    if path.starts_with("/hang") {
        return std::future::pending().await;
    }
    if path.starts_with("/redirect") {
        return (StatusCode::TEMPORARY_REDIRECT, [(LOCATION, format!("{}/private", receiver.url))]).into_response();
    }
    let status = match path {
        path if path.starts_with("/fail") => 500,
        path if path.starts_with("/gone") => 410,
        _ => receiver.status.load(Ordering::Relaxed),
    };
    StatusCode::from_u16(status).expect("a status").into_response()
}

/// A receiver whose answers begin with 200 and aren't what they say.
pub struct Liar {
    pub url: String,
    most: Arc<AtomicU64>,
}

impl Liar {
    /// The first part of a path says how it lies: `long` announces much and sends some of it for ever, `short` announces
    /// much and ends, `endless` announces nothing and sends for ever, `silent` announces little and sends nothing.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let liar = Self { url: format!("http://{}", listener.local_addr().expect("an address")), most: Arc::default() };
        let most = Arc::clone(&liar.most);
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(lie(connection, Arc::clone(&most)));
            }
        });
        liar
    }

    /// Bytes of the longest answer that was taken from it.
    pub fn most(&self) -> u64 {
        self.most.load(Ordering::Relaxed)
    }
}

async fn lie(mut connection: TcpStream, most: Arc<AtomicU64>) {
    let mut request = vec![0; 65_536];
    let length = connection.read(&mut request).await.unwrap_or_default();
    let is = |kind: &str| request[..length].starts_with(format!("POST /{kind}").as_bytes());
    let announced = match () {
        () if is("endless") => "",
        () if is("silent") => "content-length: 100\r\n",
        () => "content-length: 1000000000\r\n",
    };
    connection.write_all(format!("HTTP/1.1 200 OK\r\n{announced}\r\n").as_bytes()).await.ok();
    let mut sent = 0;
    while (is("long") || is("endless")) && connection.write_all(&[b'x'; 4_096]).await.is_ok() {
        sent += 4_096;
        most.fetch_max(sent, Ordering::Relaxed);
    }
    if is("silent") {
        // Until the other side ends it.
        while connection.read(&mut request).await.is_ok_and(|length| length > 0) {}
    }
}
