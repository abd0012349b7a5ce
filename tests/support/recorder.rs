use std::{
    mem,
    sync::{Arc, Mutex},
};

use axum::{Router, body::Bytes, extract::State, http::HeaderMap, response::IntoResponse};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Stands in front of DynamoDB and writes down what it is asked for.
pub struct Recorder {
    pub url: String,
    calls: Arc<Mutex<Vec<Call>>>,
}

/// A call of DynamoDB.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub operation: String,
    /// Capacity units that it consumed.
    pub capacity: f64,
    /// Rows that it gave.
    pub rows: usize,
}

#[derive(Clone)]
struct Upstream {
    url: String,
    client: reqwest::Client,
    calls: Arc<Mutex<Vec<Call>>>,
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
        self.take_calls().into_iter().map(|call| call.operation).collect()
    }

    /// The calls since the last time, with what they cost.
    pub fn take_calls(&self) -> Vec<Call> {
        mem::take(&mut *self.calls.lock().expect("nobody panicked"))
    }
}

async fn forward(State(upstream): State<Upstream>, headers: HeaderMap, body: Bytes) -> impl IntoResponse {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let operation = target.rsplit('.').next().unwrap_or_default().to_owned();
    let mut request = upstream.client.post(&upstream.url).body(asking_for_capacity(&body));
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
    let body = answer.bytes().await.expect("the answer can be read");
    let told = serde_json::from_slice(&body).unwrap_or_default();
    let call = Call { operation, capacity: capacity_of(&told), rows: rows_of(&told) };
    upstream.calls.lock().expect("nobody panicked").push(call);
    (status, headers, body)
}

/// The same request, which is to be answered with what it consumed.
fn asking_for_capacity(body: &[u8]) -> Vec<u8> {
    let Ok(Value::Object(mut request)) = serde_json::from_slice(body) else { return body.to_vec() };
    request.insert("ReturnConsumedCapacity".to_owned(), json!("TOTAL"));
    Value::Object(request).to_string().into_bytes()
}

/// One table's capacity, or that of all tables of a batch.
fn capacity_of(answer: &Value) -> f64 {
    match &answer["ConsumedCapacity"] {
        Value::Array(tables) => tables.iter().filter_map(|table| table["CapacityUnits"].as_f64()).sum(),
        table => table["CapacityUnits"].as_f64().unwrap_or_default(),
    }
}

fn rows_of(answer: &Value) -> usize {
    let batches = answer["Responses"].as_object().into_iter().flatten().filter_map(|(_, rows)| rows.as_array());
    let batched: usize = batches.map(Vec::len).sum();
    answer["Items"].as_array().map_or(batched + usize::from(answer["Item"].is_object()), Vec::len)
}
