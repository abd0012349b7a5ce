//! Lambda's runtime API for a single process of a function.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode},
    response::IntoResponse,
    routing::{get, post},
    serve::ListenerExt,
};
use local::Error;
use serde_json::Value;
use tokio::{
    net::TcpListener,
    sync::{Mutex, mpsc},
};

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The runtime API, from which the function takes events and to which it posts answers.
pub struct Runtime {
    /// Its host and port.
    pub authority: String,
    events: mpsc::Sender<Bytes>,
    answers: mpsc::Receiver<Result<Bytes, Bytes>>,
}

struct Queues {
    events: Mutex<mpsc::Receiver<Bytes>>,
    answers: mpsc::Sender<Result<Bytes, Bytes>>,
}

impl Runtime {
    pub async fn start() -> Result<Self, Error> {
        let ((events, to_send), (answered, answers)) = (mpsc::channel(1), mpsc::channel(1));
        let queues = Arc::new(Queues { events: Mutex::new(to_send), answers: answered });
        let router = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next))
            .route("/2018-06-01/runtime/invocation/{id}/{outcome}", post(end))
            .with_state(queues);
        // Without TCP_NODELAY each answer waits for the acknowledgement of its first packet.
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?.tap_io(|connection| {
            let _ = connection.set_nodelay(true);
        });
        let authority = axum::serve::Listener::local_addr(&listener)?.to_string();
        tokio::spawn(axum::serve(listener, router).into_future());
        Ok(Self { authority, events, answers })
    }

    /// Sends an event and returns the function's result. Fails after 30 seconds without one.
    pub async fn invoke(&mut self, event: &Value) -> Result<Value, Error> {
        self.events.send(event.to_string().into()).await?;
        let answer = tokio::time::timeout(PATIENCE, self.answers.recv()).await;
        match answer.map_err(|_| "no answer after 30 s")?.ok_or("the runtime ended")? {
            Ok(answer) => Ok(serde_json::from_slice(&answer)?),
            Err(error) => Err(format!("failed: {}", String::from_utf8_lossy(&error)).into()),
        }
    }
}

async fn next(State(queues): State<Arc<Queues>>) -> impl IntoResponse {
    let Some(event) = queues.events.lock().await.recv().await else { return StatusCode::GONE.into_response() };
    let deadline = (SystemTime::now() + PATIENCE).duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis());
    let headers = [
        ("lambda-runtime-aws-request-id", "00000000-0000-4000-8000-000000000000".to_owned()),
        ("lambda-runtime-deadline-ms", deadline.to_string()),
        ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:us-east-1:000000000000:function:measured".to_owned()),
        ("lambda-runtime-trace-id", "Root=1-00000000-000000000000000000000000".to_owned()),
    ];
    let headers = headers
        .into_iter()
        .filter_map(|(name, value)| Some((HeaderName::from_static(name), HeaderValue::from_str(&value).ok()?)));
    (headers.collect::<HeaderMap>(), event).into_response()
}

async fn end(
    State(queues): State<Arc<Queues>>,
    Path((_, outcome)): Path<(String, String)>,
    answer: Bytes,
) -> StatusCode {
    let _ = queues.answers.send(if outcome == "response" { Ok(answer) } else { Err(answer) }).await;
    StatusCode::ACCEPTED
}
