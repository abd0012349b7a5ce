//! A node as providers sell it: each call takes a while, and only so many a second are answered.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    future::IntoFuture,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    Json, Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use local::Error;
use serde_json::Value;
use tokio::{net::TcpListener, time::sleep};

/// What each call takes besides the node's own time.
const DELAY: Duration = Duration::from_millis(50);

/// A proxy of a node.
pub struct Provider {
    pub url: String,
    node: Arc<Node>,
}

/// Calls of a node.
#[derive(Debug, Default)]
pub struct Tally {
    /// Answered ones, by method.
    pub calls: BTreeMap<String, usize>,
    /// Those beyond the limit.
    pub refused: usize,
    /// Most calls that came one after the other's answer.
    pub trips: usize,
}

struct Node {
    target: String,
    client: reqwest::Client,
    /// Most calls a second, and in one moment.
    limit: Option<f64>,
    books: Mutex<Books>,
}

struct Books {
    tally: Tally,
    /// Calls that may come now.
    left: f64,
    filled: Instant,
}

impl Provider {
    /// Starts one before a node, with a limit of calls a second if it has one.
    pub async fn start(target: &str, limit: Option<u32>) -> Result<Self, Error> {
        let limit = limit.map(f64::from);
        let books = Books { tally: Tally::default(), left: limit.unwrap_or_default(), filled: Instant::now() };
        let (target, client, books) = (target.to_owned(), reqwest::Client::new(), Mutex::new(books));
        let node = Arc::new(Node { target, client, limit, books });
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let service = Router::new().fallback(answer).with_state(Arc::clone(&node));
        tokio::spawn(axum::serve(listener, service).into_future());
        Ok(Self { url, node })
    }

    /// The calls since the last `take`.
    pub fn take(&self) -> Tally {
        mem::take(&mut self.node.books().tally)
    }
}

impl Tally {
    /// How many were answered.
    pub fn count(&self) -> usize {
        self.calls.values().sum()
    }

    /// Methods with their calls, the most frequent first.
    pub fn methods(&self) -> String {
        let mut calls: Vec<_> = self.calls.iter().collect();
        calls.sort_by_key(|(_, count)| Reverse(*count));
        let words: Vec<_> = calls.into_iter().map(|(method, count)| format!("{method} {count}")).collect();
        words.join(", ")
    }
}

impl Node {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call. Returns which round trip it belongs to; `None` beyond the limit.
    fn admit(&self, call: &Value) -> Option<usize> {
        let mut books = self.books();
        if let Some(limit) = self.limit {
            let now = Instant::now();
            books.left = (books.left + limit * (now - books.filled).as_secs_f64()).min(limit);
            books.filled = now;
            if books.left < 1.0 {
                books.tally.refused += 1;
                return None;
            }
            books.left -= 1.0;
        }
        let method = call["method"].as_str().unwrap_or_default().to_owned();
        *books.tally.calls.entry(method).or_default() += 1;
        Some(books.tally.trips + 1)
    }

    async fn ask(&self, call: &Value) -> reqwest::Result<Value> {
        self.client.post(&self.target).json(call).send().await?.json().await
    }
}

async fn answer(State(node): State<Arc<Node>>, Json(call): Json<Value>) -> Response {
    let Some(trip) = node.admit(&call) else {
        return (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, "1")]).into_response();
    };
    sleep(DELAY).await;
    let answer = node.ask(&call).await;
    let mut books = node.books();
    books.tally.trips = books.tally.trips.max(trip);
    match answer {
        Ok(answer) => Json(answer).into_response(),
        Err(_) => StatusCode::BAD_GATEWAY.into_response(),
    }
}
