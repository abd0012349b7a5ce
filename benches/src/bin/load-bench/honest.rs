use std::sync::Arc;

use local::{Error, mail};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::json;
use tests::{Stack, Writer, unused_email};

use super::record::Record;

/// Kinds of honest requests.
pub const KINDS: [&str; 3] = ["read", "sign-in", "write"];

/// Honest users: readers and people who sign in, each from an address of their own, and some who write.
#[derive(Clone)]
pub struct Honest {
    pub record: Record,
    stack: Arc<Stack>,
    writers: Arc<Vec<Writer>>,
    reads: Arc<Vec<String>>,
}

impl Honest {
    /// Signs `writers` artists in, and lets each write once.
    pub async fn new(writers: usize) -> Result<Self, Error> {
        let stack = Stack::connect();
        let (comments, collection) = (&stack.map.demo["comments"], stack.demo_collection(0));
        let commented = comments["collectionAddress"].as_str().unwrap_or_default();
        let reads = vec![
            "/timeline".to_owned(),
            "/timeline?limit=50&page=2".to_owned(),
            format!("/comments?collectionAddress={commented}&tokenId={}", comments["tokenId"].as_str().unwrap_or("1")),
            format!("/moment?collectionAddress={collection:#x}&tokenId=1"),
            "/collections".to_owned(),
            "/collectors?period=all".to_owned(),
        ];
        let mut known = Vec::new();
        for path in reads {
            // What this demo content doesn't have isn't read.
            if stack.get(&path).send().await?.status().is_success() {
                known.push(path);
            }
        }
        let mut artists = Vec::new();
        for number in 0..writers {
            artists.push(client(number)?.new_writer().await);
        }
        let honest = Self {
            record: Record::default(),
            stack: Arc::new(stack),
            writers: Arc::new(artists),
            reads: Arc::new(known),
        };
        for number in 0..writers {
            honest.write(number).await;
        }
        honest.record.take();
        Ok(honest)
    }

    /// Reads one of some paths.
    pub async fn read(&self, number: usize) {
        let path = &self.reads[number % self.reads.len().max(1)];
        self.record.send("read", self.stack.get(path).header("x-forwarded-for", address(number))).await;
    }

    /// Signs in with a mailed code. Both requests count; reading the mail doesn't.
    pub async fn sign_in(&self, number: usize) {
        let (email, from) = (unused_email(), address(number));
        let post = |path, body| self.stack.post(path).header("x-forwarded-for", &from).json(&body);
        let (status, _) = self.record.send("sign-in", post("/oauth/code", json!({"email": email}))).await;
        if status != 200 {
            return;
        }
        if let Ok(code) = mail::newest_code(&self.stack.map.mail, &email, 0).await {
            self.record.send("sign-in", post("/oauth/login", json!({"email": email, "code": code}))).await;
        }
    }

    /// Changes a moment's document, and waits until the change is mined.
    pub async fn write(&self, number: usize) {
        let writer = &self.writers[number % self.writers.len().max(1)];
        let moment = json!({"collectionAddress": writer.collection, "tokenId": "1"});
        let body = json!({"moment": moment, "newUri": format!("ar://load/{number}")});
        let request = self.stack.post("/registry/metadata/moment").header("x-api-key", &writer.key);
        self.record.send("write", request.header("x-forwarded-for", address(number)).json(&body)).await;
    }
}

/// A connection to the stack from an address of its own.
pub fn client(number: usize) -> Result<Stack, Error> {
    let (name, value) = (HeaderName::from_static("x-forwarded-for"), HeaderValue::from_str(&address(number))?);
    let headers = HeaderMap::from_iter([(name, value)]);
    Ok(Stack { http: reqwest::Client::builder().default_headers(headers).build()?, ..Stack::connect() })
}

/// One of some ten thousand addresses.
fn address(number: usize) -> String {
    format!("10.1.{}.{}", number / 250 % 250, number % 250)
}
