//! The distribution and its firewall, as far as load tells them: rate rules by client, answers kept for as long as they
//! say, and one request to the API where many ask for the same. Rules are the template's.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use serde_norway::Value;
use template::Template;
use tokio::{net::TcpListener, sync::Mutex as Turn, task::JoinHandle};

use crate::Error;

/// Period of the rate rules, in seconds.
const PERIOD: u64 = 60;

/// How long requests for an answer that isn't kept don't wait for each other.
const NOT_KEPT: Duration = Duration::from_secs(10);

/// Largest body that is passed on.
const MAX_BODY: usize = 10 << 20;

/// A running edge; dropping it stops it.
pub struct Edge {
    /// Its base URL, without the stage.
    pub url: String,
    task: JoinHandle<()>,
}

impl Drop for Edge {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Edge {
    /// Starts one in front of the gateway at `origin`.
    pub async fn start(origin: &str, template: &Template) -> Result<Self, Error> {
        let firewall = template.resources("AWS::WAFv2::WebACL").next().ok_or("template.yaml: no web ACL")?;
        let rules = firewall.properties.get("Rules").and_then(Value::as_sequence).into_iter().flatten();
        let rules = rules.filter_map(|rule| rule.get("Statement")?.get("RateBasedStatement")).map(Rule::of);
        let edge = Running {
            origin: origin.to_owned(),
            client: reqwest::Client::new(),
            rules: rules.collect::<Result<_, _>>()?,
            counts: Mutex::default(),
            kept: Mutex::default(),
            started: Instant::now(),
        };
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let app = Router::new().fallback(answer).with_state(Arc::new(edge));
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap_or_default() });
        Ok(Self { url, task })
    }
}

/// A rate rule.
#[derive(Debug)]
struct Rule {
    limit: u64,
    scope: Scope,
}

/// The requests that a rule counts.
#[derive(Debug)]
enum Scope {
    All,
    /// Beginnings of paths.
    Paths(Vec<String>),
    /// All methods but these.
    NotMethods(Vec<String>),
}

impl Rule {
    fn of(statement: &Value) -> Result<Self, Error> {
        let limit = statement.get("Limit").and_then(Value::as_u64).ok_or("template.yaml: a rate rule has no limit")?;
        let unsupported = || format!("template.yaml: a rate rule's scope isn't supported: {statement:?}");
        let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let scope = match statement.get("ScopeDownStatement") {
            None => Scope::All,
            Some(scope) => {
                let begins = scope.get("ByteMatchStatement").and_then(|part| text(part, "SearchString"));
                let matches = scope.get("RegexMatchStatement").and_then(|part| text(part, "RegexString"));
                let not = scope.get("NotStatement").and_then(|not| not.get("Statement")?.get("RegexMatchStatement"));
                let not = not.and_then(|part| text(part, "RegexString"));
                match (begins, matches, not) {
                    (Some(path), None, None) => Scope::Paths(vec![path]),
                    (None, Some(paths), None) => Scope::Paths(alternatives(&paths).ok_or_else(unsupported)?),
                    (None, None, Some(methods)) => {
                        Scope::NotMethods(alternatives(methods.trim_end_matches('$')).ok_or_else(unsupported)?)
                    }
                    _ => return Err(unsupported().into()),
                }
            }
        };
        Ok(Self { limit, scope })
    }

    fn counts(&self, method: &Method, path: &str) -> bool {
        match &self.scope {
            Scope::All => true,
            Scope::Paths(paths) => paths.iter().any(|begin| path.starts_with(begin)),
            Scope::NotMethods(methods) => !methods.iter().any(|but| but == method.as_str()),
        }
    }
}

/// The texts that `^a(b|c)` stands for.
fn alternatives(pattern: &str) -> Option<Vec<String>> {
    let (begin, list) = pattern.strip_prefix('^')?.strip_suffix(')')?.split_once('(')?;
    Some(list.split('|').map(|end| format!("{begin}{}", end.replace('\\', ""))).collect())
}

/// Requests by the second.
type Counts = VecDeque<(u64, u64)>;

struct Running {
    origin: String,
    client: reqwest::Client,
    rules: Vec<Rule>,
    /// By rule and client.
    counts: Mutex<HashMap<(usize, String), Counts>>,
    kept: Mutex<HashMap<String, Arc<Turn<Option<Kept>>>>>,
    started: Instant,
}

/// An answer that is kept; none for one that may not be.
struct Kept {
    answer: Option<Answer>,
    until: Instant,
}

#[derive(Clone)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

async fn answer(State(edge): State<Arc<Running>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let text = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let client = text("x-forwarded-for").split(',').next().unwrap_or_default().to_owned();
    if edge.refuses(&client, &parts.method, parts.uri.path()) {
        return (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, PERIOD.to_string())]).into_response();
    }
    let Ok(body) = to_bytes(body, MAX_BODY).await else { return StatusCode::PAYLOAD_TOO_LARGE.into_response() };
    let passed = || edge.pass(parts.method.clone(), &parts.uri, parts.headers.clone(), body.clone());
    if parts.method != Method::GET {
        return passed().await.into_response();
    }
    // As the template's cache policy: by path, query and credentials.
    let key = format!("{}\n{}\n{}", parts.uri, text("authorization"), text("x-api-key"));
    let kept = Arc::clone(lock(&edge.kept).entry(key).or_default());
    let mut kept = kept.lock().await;
    match kept.as_ref().filter(|kept| kept.until > Instant::now()) {
        Some(Kept { answer: Some(answer), .. }) => return answer.clone().into_response(),
        // What isn't kept isn't waited for.
        Some(Kept { answer: None, .. }) => {
            drop(kept);
            return passed().await.into_response();
        }
        None => {}
    }
    let answer = passed().await;
    let fresh = if answer.status.is_success() { fresh_for(&answer.headers) } else { Duration::ZERO };
    let is_kept = !fresh.is_zero();
    *kept = Some(Kept {
        answer: is_kept.then(|| answer.clone()),
        until: Instant::now() + if is_kept { fresh } else { NOT_KEPT },
    });
    answer.into_response()
}

fn fresh_for(headers: &HeaderMap) -> Duration {
    let rules = headers.get(header::CACHE_CONTROL).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut rules = rules.split(',').map(str::trim);
    let seconds = rules.find_map(|rule| rule.strip_prefix("max-age=")?.parse().ok());
    Duration::from_secs(seconds.unwrap_or_default())
}

impl Running {
    /// Counts a request; whether a rule refuses it.
    fn refuses(&self, client: &str, method: &Method, path: &str) -> bool {
        let now = self.started.elapsed().as_secs();
        let mut counts = lock(&self.counts);
        let mut is_refused = false;
        for (number, rule) in self.rules.iter().enumerate().filter(|(_, rule)| rule.counts(method, path)) {
            let count = counts.entry((number, client.to_owned())).or_default();
            while count.front().is_some_and(|(second, _)| second + PERIOD <= now) {
                count.pop_front();
            }
            match count.back_mut() {
                Some((second, requests)) if *second == now => *requests += 1,
                _ => count.push_back((now, 1)),
            }
            is_refused |= count.iter().map(|(_, requests)| requests).sum::<u64>() > rule.limit;
        }
        is_refused
    }

    async fn pass(&self, method: Method, uri: &Uri, mut headers: HeaderMap, body: Bytes) -> Answer {
        for name in [header::HOST, header::CONNECTION, header::TRANSFER_ENCODING, header::CONTENT_LENGTH] {
            headers.remove(name);
        }
        let request = self.client.request(method, format!("{}{uri}", self.origin)).headers(headers).body(body);
        let gone = |status| Answer { status, headers: HeaderMap::new(), body: Bytes::new() };
        let Ok(answer) = request.send().await else { return gone(StatusCode::BAD_GATEWAY) };
        let (status, mut headers) = (answer.status(), answer.headers().clone());
        headers.remove(header::TRANSFER_ENCODING);
        headers.remove(header::CONTENT_LENGTH);
        answer.bytes().await.map_or_else(|_| gone(StatusCode::BAD_GATEWAY), |body| Answer { status, headers, body })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::paths::Paths;

    /// An edge in front of an API that counts its requests.
    async fn edge() -> Result<(Edge, Arc<AtomicUsize>), Error> {
        let count = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&count);
        let answer = move |uri: Uri| async move {
            counter.fetch_add(1, Ordering::Relaxed);
            let rule = if uri.path().contains("mine") { "no-store" } else { "public, max-age=60" };
            ([(header::CACHE_CONTROL, rule)], uri.to_string())
        };
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let origin = format!("http://{}", listener.local_addr()?);
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await });
        let template = Paths::of_checkout().template()?;
        Ok((Edge::start(&origin, &template).await?, count))
    }

    #[tokio::test]
    async fn public_answers_are_kept_by_path_query_and_credentials_and_others_are_not() -> Result<(), Error> {
        let (edge, count) = edge().await?;
        let client = reqwest::Client::new();
        for (path, key, expected) in [
            ("/api/timeline", "", 1),
            ("/api/timeline", "", 1),
            ("/api/timeline?page=2", "", 2),
            ("/api/timeline", "a", 3),
            ("/api/timeline", "a", 3),
            ("/api/mine", "a", 4),
            ("/api/mine", "a", 5),
            ("/api/mine", "a", 6),
        ] {
            let answer = client.get(format!("{}{path}", edge.url)).header("x-api-key", key).send().await?;
            assert_eq!(answer.text().await?, path);
            assert_eq!(count.load(Ordering::Relaxed), expected, "{path} with the key {key}");
        }
        Ok(())
    }

    #[tokio::test]
    async fn one_client_is_refused_above_the_templates_limit_and_others_are_not() -> Result<(), Error> {
        let (edge, count) = edge().await?;
        let client = reqwest::Client::new();
        let ask = async |from: &str, path: &str| {
            let request = client.post(format!("{}{path}", edge.url)).header("x-forwarded-for", from);
            Ok::<_, Error>(request.send().await?.status().as_u16())
        };
        for _ in 0..600 {
            assert_eq!(ask("192.0.2.1", "/api/oauth/code").await?, 200);
        }
        assert_eq!(ask("192.0.2.1", "/api/oauth/login").await?, 429);
        assert_eq!((ask("192.0.2.2", "/api/oauth/code").await?, ask("192.0.2.1", "/api/sale").await?), (200, 200));
        assert_eq!(count.load(Ordering::Relaxed), 602);
        Ok(())
    }
}
