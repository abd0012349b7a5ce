//! A pinning service with the IPFS Pinning Service API 1.0. Given a gateway, it pins only what it can fetch there, block by
//! block, with the hashes that the CIDs say.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Json, Router,
    extract::{Path, Query, Request, State},
    http::{HeaderMap, StatusCode, header::RETRY_AFTER},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;

use crate::{Error, http};

/// The access token.
pub const TOKEN: &str = "pinning-token-of-the-local-stack";

/// Most blocks of a file that are fetched.
const MAX_BLOCKS: usize = 10_000;

/// How one request goes wrong.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// This status, with seconds to wait.
    Status(u16, Option<u64>),
    /// 200 with no JSON.
    Garbage,
}

/// A running service; it runs until the process ends.
#[derive(Clone)]
pub struct PinningService {
    /// Base URL of its API.
    pub url: String,
    state: Arc<Mutex<Book>>,
}

#[derive(Default)]
struct Book {
    gateway: Option<String>,
    pins: BTreeMap<u64, (String, Value)>,
    faults: VecDeque<Fault>,
    unlucky: BTreeSet<String>,
    lost: Option<String>,
    requests: Vec<String>,
}

impl PinningService {
    /// Starts it. `gateway` is the base URL in front of `/ipfs/{cid}`.
    pub async fn start(gateway: Option<String>) -> Result<Self, Error> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}/psa", listener.local_addr()?);
        let service = Self { url, state: Arc::new(Mutex::new(Book { gateway, ..Book::default() })) };
        let router = Router::new()
            .route("/psa/pins", get(list).post(add))
            .route("/psa/pins/{id}", get(look).post(replace).delete(remove))
            .layer(middleware::from_fn_with_state(service.clone(), admit))
            .with_state(service.clone());
        tokio::spawn(axum::serve(listener, router).into_future());
        Ok(service)
    }

    /// Lets the next requests go wrong, one after the other.
    pub fn fail_with(&self, faults: impl IntoIterator<Item = Fault>) {
        self.book().faults.extend(faults);
    }

    /// Lets the next request to pin this file fail after a while.
    pub fn fail_once(&self, cid: &str) {
        self.book().unlucky.insert(cid.to_owned());
    }

    /// Does what the next request with this method asks, and loses the answer.
    pub fn lose_next(&self, method: &str) {
        self.book().lost = Some(method.to_owned());
    }

    /// The pins of a file: their status.
    pub fn pins_of(&self, cid: &str) -> Vec<String> {
        let book = self.book();
        book.pins.values().filter(|(_, pin)| pin["cid"] == cid).map(|(status, _)| status.clone()).collect()
    }

    /// What was asked of it so far, as `POST /pins`.
    pub fn requests(&self) -> Vec<String> {
        self.book().requests.clone()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn admit(State(service): State<PinningService>, headers: HeaderMap, request: Request, next: Next) -> Response {
    let (fault, is_lost) = {
        let mut book = service.book();
        let is_lost = book.lost.take_if(|method| *method == request.method().as_str()).is_some();
        let path = request.uri().path().trim_start_matches("/psa");
        book.requests.push(format!("{} {path}", request.method()));
        (book.faults.pop_front(), is_lost)
    };
    let is_known = headers.get("authorization").is_some_and(|value| *value == format!("Bearer {TOKEN}"));
    match fault {
        Some(Fault::Status(status, wait)) => {
            let answer = refusal(StatusCode::from_u16(status).unwrap_or_default(), "BAD_DAY", "try again");
            match wait {
                Some(wait) => ([(RETRY_AFTER, wait.to_string())], answer).into_response(),
                None => answer,
            }
        }
        Some(Fault::Garbage) => "<html>".into_response(),
        _ if !is_known => refusal(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", "access token is missing or invalid"),
        None if is_lost => {
            next.run(request).await;
            refusal(StatusCode::BAD_GATEWAY, "LOST", "the answer is lost")
        }
        None => next.run(request).await,
    }
}

async fn list(
    State(service): State<PinningService>,
    Query(query): Query<BTreeMap<String, String>>,
) -> Result<Json<Value>, Response> {
    let asked = |name: &str| query.get(name).map(|values| values.split(',').map(str::to_owned).collect::<Vec<_>>());
    let statuses = asked("status").unwrap_or_else(|| vec!["pinned".to_owned()]);
    let book = service.book();
    let found = book.pins.iter().rev().filter(|(_, (status, pin))| {
        let is_asked = asked("cid").is_none_or(|cids| cids.iter().any(|cid| pin["cid"] == *cid));
        is_asked && statuses.contains(status)
    });
    let found: Vec<Value> = found.map(|(id, (status, pin))| status_of(*id, status, pin)).collect();
    Ok(Json(json!({"count": found.len(), "results": found.iter().take(10).collect::<Vec<_>>()})))
}

async fn add(State(service): State<PinningService>, Json(pin): Json<Value>) -> Response {
    match check(&pin) {
        Ok(()) => {
            let mut book = service.book();
            let id = book.pins.keys().last().map_or(1, |last| last + 1);
            book.pins.insert(id, ("queued".to_owned(), pin.clone()));
            (StatusCode::ACCEPTED, Json(status_of(id, "queued", &pin))).into_response()
        }
        Err(details) => refusal(StatusCode::BAD_REQUEST, "BAD_REQUEST", details),
    }
}

async fn replace(State(service): State<PinningService>, Path(id): Path<u64>, pin: Json<Value>) -> Response {
    if service.book().pins.remove(&id).is_none() {
        return refusal(StatusCode::NOT_FOUND, "NOT_FOUND", "no such request");
    }
    add(State(service), pin).await
}

async fn remove(State(service): State<PinningService>, Path(id): Path<u64>) -> Response {
    match service.book().pins.remove(&id) {
        Some(_) => StatusCode::ACCEPTED.into_response(),
        None => refusal(StatusCode::NOT_FOUND, "NOT_FOUND", "no such request"),
    }
}

/// Each look finds the pin one step further.
async fn look(State(service): State<PinningService>, Path(id): Path<u64>) -> Response {
    let found = service.book().pins.get(&id).cloned();
    let Some((status, pin)) = found else { return refusal(StatusCode::NOT_FOUND, "NOT_FOUND", "no such request") };
    let cid = pin["cid"].as_str().unwrap_or_default().to_owned();
    let gateway = service.book().gateway.clone();
    let next = match status.as_str() {
        "queued" if gateway.is_none() => "pinning",
        "queued" | "pinning" if service.book().unlucky.remove(&cid) => "failed",
        "queued" | "pinning" => match gateway {
            Some(gateway) if fetch(&gateway, cid).await.is_err() => "failed",
            _ => "pinned",
        },
        done => done,
    };
    service.book().pins.insert(id, (next.to_owned(), pin.clone()));
    Json(status_of(id, next, &pin)).into_response()
}

fn status_of(id: u64, status: &str, pin: &Value) -> Value {
    json!({
        "requestid": id.to_string(),
        "status": status,
        "created": format!("2026-01-01T00:{:02}:{:02}Z", id / 60 % 60, id % 60),
        "pin": pin,
        "delegates": ["/dnsaddr/pins.example.com"],
        "info": if status == "failed" { json!({"status_details": "no node provides it"}) } else { json!({}) },
    })
}

fn check(pin: &Value) -> Result<(), &'static str> {
    let texts = |value: &Value| value.as_array().is_none_or(|all| all.len() <= 20 && all.iter().all(Value::is_string));
    let is_cid = pin["cid"].as_str().is_some_and(|cid| codec(cid).is_some());
    match pin {
        _ if !is_cid => Err("cid must be a CID"),
        pin if pin["name"].as_str().is_some_and(|name| name.len() > 255) => Err("name is too long"),
        pin if !texts(&pin["origins"]) => Err("origins must be up to 20 multiaddrs"),
        pin if !pin["meta"].as_object().is_none_or(|meta| meta.values().all(Value::is_string)) => {
            Err("meta must have texts alone")
        }
        _ => Ok(()),
    }
}

fn refusal(status: StatusCode, reason: &str, details: &str) -> Response {
    (status, Json(json!({"error": {"reason": reason, "details": details}}))).into_response()
}

/// Fetches all blocks of a file.
async fn fetch(gateway: &str, root: String) -> Result<(), Error> {
    let (mut wanted, mut seen) = (vec![root], BTreeSet::new());
    while let Some(cid) = wanted.pop() {
        if seen.len() > MAX_BLOCKS || !seen.insert(cid.clone()) {
            continue;
        }
        let answer = http::client().get(format!("{gateway}/ipfs/{cid}?format=raw")).send().await?;
        let answer = answer.error_for_status()?;
        let kind = answer.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        if kind != Some("application/vnd.ipld.raw") {
            return Err(format!("{cid} is of type {kind:?}").into());
        }
        let block = answer.bytes().await?;
        let codec = codec(&cid).ok_or("another codec")?;
        let hash = Sha256::digest(&block);
        if text_of(&[&[1, codec, 0x12, 0x20], &hash[..]].concat()) != cid {
            return Err(format!("{cid} has another hash").into());
        }
        if codec == 0x70 {
            let links = fields(&block).into_iter().filter(|(field, _)| *field == 2);
            let hashes = links.flat_map(|(_, link)| fields(link).into_iter().filter(|(field, _)| *field == 1));
            wanted.extend(hashes.map(|(_, hash)| text_of(hash)));
        }
    }
    Ok(())
}

/// That of a CID of version 1 in base32, of SHA-256.
fn codec(cid: &str) -> Option<u8> {
    [("bafkrei", 0x55), ("bafybei", 0x70)].into_iter().find(|(start, _)| cid.starts_with(start)).map(|(_, codec)| codec)
}

/// Base32 of a CID's bytes.
fn text_of(cid: &[u8]) -> String {
    let bits: String = cid.iter().map(|byte| format!("{byte:08b}")).collect();
    let letter = |start: usize| {
        let five = format!("{:0<5}", &bits[start..bits.len().min(start + 5)]);
        char::from(b"abcdefghijklmnopqrstuvwxyz234567"[usize::from_str_radix(&five, 2).unwrap_or_default()])
    };
    std::iter::once('b').chain((0..bits.len()).step_by(5).map(letter)).collect()
}

/// The fields of a protobuf message that have a length.
fn fields(mut message: &[u8]) -> Vec<(u64, &[u8])> {
    fn varint<'a>(message: &mut &'a [u8]) -> Option<u64> {
        let end = message.iter().position(|byte| byte & 0x80 == 0)?;
        let (bytes, rest): (&'a [u8], _) = message.split_at(end + 1);
        *message = rest;
        Some(bytes.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f)))
    }
    let mut found = Vec::new();
    while let Some(tag) = varint(&mut message) {
        let Some(number) = varint(&mut message) else { break };
        if tag & 7 == 2 {
            let (value, rest) = message.split_at(message.len().min(usize::try_from(number).unwrap_or(usize::MAX)));
            found.push((tag >> 3, value));
            message = rest;
        }
    }
    found
}
