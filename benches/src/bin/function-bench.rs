//! What each function takes, as it is deployed: time from the start of its process to its first answer, time of later
//! ones, memory, size, and calls of AWS. Run by `local test`, whose stack it measures against; the functions are asked what
//! their event files ask, with a live key and token in place of the files' own.

use std::{
    collections::BTreeMap,
    fs,
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode},
    response::IntoResponse,
    routing::{get, post},
    serve::ListenerExt,
};
use local::{Error, cloud::Endpoints, functions::environment, paths::Paths, process::Process, recorder::Recorder};
use serde_json::{Value, json};
use template::{Function, Template};
use tests::Stack;
use tokio::{
    net::TcpListener,
    sync::{Mutex, mpsc},
};

/// Processes started, of which the median counts.
const STARTS: usize = 5;
/// Requests after the first.
const REQUESTS: usize = 100;
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Lambda's runtime API for one process.
struct Runtime {
    url: String,
    events: mpsc::Sender<Bytes>,
    answers: mpsc::Receiver<()>,
}

struct Queues {
    events: Mutex<mpsc::Receiver<Bytes>>,
    answers: mpsc::Sender<()>,
}

impl Runtime {
    async fn start() -> Result<Self, Error> {
        let ((events, to_send), (answered, answers)) = (mpsc::channel(1), mpsc::channel(1));
        let queues = Arc::new(Queues { events: Mutex::new(to_send), answers: answered });
        let router = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next))
            .route("/2018-06-01/runtime/invocation/{id}/{outcome}", post(end))
            .with_state(queues);
        // Otherwise each answer waits for the client's acknowledgement of its first packet.
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?.tap_io(|connection| {
            let _ = connection.set_nodelay(true);
        });
        let url = axum::serve::Listener::local_addr(&listener)?.to_string();
        tokio::spawn(axum::serve(listener, router).into_future());
        Ok(Self { url, events, answers })
    }

    async fn invoke(&mut self, event: &Value) -> Result<(), Error> {
        self.events.send(event.to_string().into()).await?;
        let answer = tokio::time::timeout(PATIENCE, self.answers.recv()).await;
        answer.map_err(|_| "no answer after 30 s")?.ok_or_else(|| "the runtime ended".into())
    }
}

async fn next(State(queues): State<Arc<Queues>>) -> impl IntoResponse {
    let Some(event) = queues.events.lock().await.recv().await else { return StatusCode::GONE.into_response() };
    let deadline = (std::time::SystemTime::now() + PATIENCE)
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |time| time.as_millis());
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

async fn end(State(queues): State<Arc<Queues>>, _: Bytes) -> StatusCode {
    let _ = queues.answers.send(()).await;
    StatusCode::ACCEPTED
}

/// Whoever asks, and what they ask with.
struct Caller {
    token: String,
    key: String,
}

impl Caller {
    async fn new(stack: &Stack) -> Self {
        let artist = stack.new_artist().await;
        let key = stack.create_key(&artist, &json!({})).await;
        Self { token: artist.token.clone(), key: key.body["apiKey"].as_str().unwrap_or_default().to_owned() }
    }

    fn ask(&self, event: &Value, number: usize) -> Value {
        let mut event = event.clone();
        for (name, value) in [
            ("authorization", format!("Bearer {}", self.token)),
            ("x-api-key", self.key.clone()),
            ("idempotency-key", format!("measured-{number}-{}", std::process::id())),
        ] {
            if let Some(header) = event["headers"].get_mut(name) {
                *header = json!(value);
            }
        }
        event
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let (paths, stack) = (Paths::of_checkout(), Stack::connect());
    let template: Template = fs::read_to_string(paths.root().join("template.yaml"))?.parse()?;
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let caller = Caller::new(&stack).await;
    println!(
        "| function | first answer (ms) | then p50 (ms) | p99 (ms) | memory (MB) | size, zipped (MB) | AWS calls a request |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for function in template.functions()? {
        if wanted.is_empty() || wanted.contains(&function.binary) {
            println!("{}", measure(&paths, &stack, &caller, &function).await?);
        }
    }
    Ok(())
}

/// A function's row of the table.
async fn measure(paths: &Paths, stack: &Stack, caller: &Caller, function: &Function) -> Result<String, Error> {
    let binary = &function.binary;
    let path = paths.target("release").join(binary);
    let event: Value = serde_json::from_str(&fs::read_to_string(paths.root().join(format!("events/{binary}.json")))?)?;
    let dynamodb = Recorder::in_front_of(&stack.map.dynamodb).await?;
    let aws = Recorder::in_front_of(&stack.map.aws).await?;
    let endpoints = Endpoints { aws: aws.url.clone(), dynamodb: dynamodb.url.clone() };
    let environment: BTreeMap<_, _> = environment(function, &stack.map.names, endpoints.environment())?;

    let (mut first, mut number) = (Vec::new(), 0);
    let (mut later, mut memory, mut calls) = (Vec::new(), 0, 0);
    for start in 0..STARTS {
        let mut runtime = Runtime::start().await?;
        let mut command = tokio::process::Command::new(&path);
        command.env_clear().envs(&environment).env("AWS_LAMBDA_RUNTIME_API", &runtime.url);
        command.env("AWS_LAMBDA_FUNCTION_NAME", binary).env("AWS_LAMBDA_FUNCTION_VERSION", "1");
        command.env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256");
        command.env("AWS_LAMBDA_LOG_GROUP_NAME", "measured").env("AWS_LAMBDA_LOG_STREAM_NAME", "measured");
        let started = Instant::now();
        let process = Process::start(binary, &paths.local("bench"), &mut command)?;
        number += 1;
        runtime.invoke(&caller.ask(&event, number)).await?;
        first.push(started.elapsed());
        if start + 1 < STARTS {
            continue;
        }
        let requests = if function.is_scheduled { STARTS } else { REQUESTS };
        dynamodb.take();
        aws.take();
        for _ in 0..requests {
            number += 1;
            let asked = Instant::now();
            runtime.invoke(&caller.ask(&event, number)).await?;
            later.push(asked.elapsed());
        }
        calls = (dynamodb.take().len() + aws.take().len()) * 10 / requests;
        memory = process.id().map_or(0, most_memory);
    }
    Ok(format!(
        "| `{binary}` | {:.1} | {:.1} | {:.1} | {:.1} | {:.2} | {}.{} |",
        quantile(&mut first, 50),
        quantile(&mut later, 50),
        quantile(&mut later, 99),
        memory as f64 / 1e3,
        zipped_size(&path)? as f64 / 1e6,
        calls / 10,
        calls % 10
    ))
}

/// In milliseconds.
fn quantile(times: &mut [Duration], percent: usize) -> f64 {
    times.sort();
    times
        .get((times.len() * percent / 100).min(times.len().saturating_sub(1)))
        .map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

/// Most memory that a process has had, in kilobytes.
fn most_memory(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn zipped_size(path: &std::path::Path) -> Result<usize, Error> {
    let zip = Command::new("gzip").args(["-9", "-c"]).arg(path).stderr(Stdio::inherit()).output()?;
    Ok(zip.stdout.len())
}
