use std::{
    mem,
    sync::{Arc, Mutex},
};

use axum::{Router, body::Bytes, extract::State, http::HeaderMap, response::IntoResponse};
use tokio::net::TcpListener;

/// Stands in front of DynamoDB and writes down what it is asked for.
pub struct Recorder {
    pub url: String,
    calls: Arc<Mutex<Vec<String>>>,
}

#[derive(Clone)]
struct Upstream {
    url: String,
    client: reqwest::Client,
    calls: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    pub async fn in_front_of(url: &str) -> Self {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let upstream = Upstream { url: url.to_owned(), client: reqwest::Client::new(), calls: calls.clone() };
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let server = axum::serve(listener, Router::new().fallback(forward).with_state(upstream));
        tokio::spawn(server.into_future());
        Self { url, calls }
    }

    /// The operations asked for since the last time.
    pub fn take(&self) -> Vec<String> {
        mem::take(&mut *self.calls.lock().expect("nobody panicked"))
    }
}

async fn forward(State(upstream): State<Upstream>, headers: HeaderMap, body: Bytes) -> impl IntoResponse {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let operation = target.rsplit('.').next().unwrap_or_default().to_owned();
    upstream.calls.lock().expect("nobody panicked").push(operation);
    let mut request = upstream.client.post(&upstream.url).body(body);
    for name in ["authorization", "content-type", "x-amz-date", "x-amz-target"] {
        if let Some(value) = headers.get(name) {
            request = request.header(name, value);
        }
    }
    let answer = request.send().await.expect("DynamoDB answers");
    let status = answer.status();
    let headers: Vec<_> = ["content-type", "x-amz-crc32", "x-amzn-requestid"]
        .into_iter()
        .filter_map(|name| Some((name, answer.headers().get(name)?.clone())))
        .collect();
    let headers: HeaderMap =
        headers.into_iter().map(|(name, value)| (axum::http::HeaderName::from_static(name), value)).collect();
    (status, headers, answer.bytes().await.expect("the answer can be read"))
}
