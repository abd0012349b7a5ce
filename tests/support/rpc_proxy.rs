use std::{
    mem,
    sync::{Arc, Mutex},
};

use axum::{Json, Router, extract::State};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch};

/// A proxy of a node that records the methods called and answers some calls itself.
pub struct RpcProxy {
    pub url: String,
    methods: Arc<Mutex<Vec<String>>>,
    trips: Arc<Trips>,
}

/// Holds calls until all of their round trip have come.
#[derive(Default)]
struct Trips {
    /// Number of the last call of each.
    ends: Mutex<Vec<usize>>,
    came: watch::Sender<usize>,
}

/// Returns `{result}` or `{error}` for the JSON-RPC calls that the proxy answers itself.
type Answer = dyn Fn(&Value) -> Option<Value> + Send + Sync;

#[derive(Clone)]
struct Upstream {
    url: String,
    client: reqwest::Client,
    methods: Arc<Mutex<Vec<String>>>,
    trips: Arc<Trips>,
    answer: Arc<Answer>,
}

impl RpcProxy {
    /// Starts a proxy; calls for which `answer` returns `None` go to the node.
    pub async fn in_front_of(url: &str, answer: impl Fn(&Value) -> Option<Value> + Send + Sync + 'static) -> Self {
        let methods = Arc::new(Mutex::new(Vec::new()));
        let trips = Arc::<Trips>::default();
        let upstream = Upstream {
            url: url.to_owned(),
            client: reqwest::Client::new(),
            methods: methods.clone(),
            trips: trips.clone(),
            answer: Arc::new(answer),
        };
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        tokio::spawn(axum::serve(listener, Router::new().fallback(forward).with_state(upstream)).into_future());
        Self { url, methods, trips }
    }

    /// From now on answers no call of a round trip, which has so many, before all of them have come.
    pub fn expect_trips(&self, sizes: &[usize]) {
        let ends = sizes.iter().scan(0_usize, |end, size| {
            *end += size;
            Some(*end)
        });
        *self.trips.ends.lock().expect("nobody panicked") = ends.collect();
        self.trips.came.send_replace(0);
        self.take();
    }

    /// The methods called since the last `take`.
    pub fn take(&self) -> Vec<String> {
        mem::take(&mut *self.methods.lock().expect("nobody panicked"))
    }
}

impl Trips {
    async fn pass(&self) {
        let (mut came, mut number) = (self.came.subscribe(), 0);
        self.came.send_modify(|count| {
            *count += 1;
            number = *count;
        });
        let end = self.ends.lock().expect("nobody panicked").iter().copied().find(|end| *end >= number);
        // It can't fail: the sender is here.
        let _ = came.wait_for(|count| end.is_none_or(|end| *count >= end)).await;
    }
}

async fn forward(State(upstream): State<Upstream>, Json(call): Json<Value>) -> Json<Value> {
    let method = call["method"].as_str().unwrap_or_default().to_owned();
    upstream.methods.lock().expect("nobody panicked").push(method);
    upstream.trips.pass().await;
    if let Some(mut answer) = (upstream.answer)(&call) {
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = call["id"].clone();
        return Json(answer);
    }
    let answer = upstream.client.post(&upstream.url).json(&call).send().await.expect("the node answers");
    Json(answer.json().await.expect("the answer can be read"))
}
