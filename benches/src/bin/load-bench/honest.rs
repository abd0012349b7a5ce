use std::{
    collections::HashMap,
    env,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use local::{Error, mail};
use reqwest::{
    RequestBuilder,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use serde_json::{Value, json};
use tests::{Stack, Writer, unused_email};
use tokio::{sync::Mutex, task::JoinSet, time::Instant};

use super::{
    open_loop,
    record::{Record, Taken},
};

/// Kinds of honest requests.
pub const KINDS: [&str; 4] = ["read", "sign-in", "profile", "write"];

/// Number of the first address that isn't an honest user's.
pub const STRANGERS: usize = 62_500;

/// Honest users: readers and people who sign in, each from an address of their own, and some who write.
#[derive(Clone)]
pub struct Honest {
    pub record: Record,
    pub stack: Arc<Stack>,
    pub reads: Arc<Vec<String>>,
    writers: Arc<Vec<Writer>>,
    number: Arc<AtomicUsize>,
    mailbox: Arc<Mailbox>,
}

impl Honest {
    /// Signs `writers` artists in, and lets each write once. They ask the API itself, or what is in front of it.
    pub async fn new(writers: usize, is_at_the_edge: bool) -> Result<Self, Error> {
        let stack = if is_at_the_edge { at_the_edge() } else { Stack::connect() };
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
            mailbox: Arc::new(Mailbox::of(&stack)),
            stack: Arc::new(stack),
            writers: Arc::new(artists),
            reads: Arc::new(known),
            number: Arc::default(),
        };
        for _ in 0..writers {
            honest.write().await;
        }
        honest.record.take();
        Ok(honest)
    }

    /// The same users, whose requests are noted elsewhere.
    pub fn noting_in(&self, record: Record) -> Self {
        Self { record, ..self.clone() }
    }

    /// Ten reads, a sign-in and a write a second, each from an address of its own.
    pub async fn live(&self, seconds: u64) -> Taken {
        let (mut requests, mut tick) = (JoinSet::new(), 0);
        open_loop(10, seconds, || {
            let (honest, turn) = (self.clone(), tick % 10);
            tick += 1;
            requests.spawn(async move {
                match turn {
                    0 => tokio::join!(honest.read(), honest.sign_in()).0,
                    5 => tokio::join!(honest.read(), honest.write()).0,
                    _ => honest.read().await,
                }
            });
        })
        .await;
        requests.join_all().await;
        self.record.take()
    }

    /// Number of the writers' transactions that aren't over.
    pub async fn open_transactions(&self) -> Result<usize, Error> {
        let mut open = 0;
        for writer in self.writers.iter() {
            let listed = self.stack.get("/transactions?limit=100").header("x-api-key", &writer.key).send().await?;
            let listed: Value = listed.error_for_status()?.json().await?;
            let transactions = listed["transactions"].as_array().ok_or("no list of transactions")?;
            let is_open = |one: &&Value| one["status"] == "queued" || one["status"] == "sent";
            open += transactions.iter().filter(is_open).count();
        }
        Ok(open)
    }

    /// Reads one of some paths.
    pub async fn read(&self) {
        let number = self.next();
        let path = &self.reads[number % self.reads.len().max(1)];
        self.record.send("read", self.stack.get(path).header("x-forwarded-for", address(number))).await;
    }

    /// Signs in with a mailed code, looks at the wallets and changes the profile. Reading the mail isn't measured.
    pub async fn sign_in(&self) {
        let number = self.next();
        let Some(login) = self.login(number, |kind| kind).await else { return };
        let (status, answer) = self.record.send("sign-in", login).await;
        let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
        let (200, Some(token)) = (status, answer["token"].as_str()) else { return };
        let from = address(number);
        let looks = self.stack.get("/artists/wallets").header("x-forwarded-for", &from).bearer_auth(token);
        self.record.send("profile", looks).await;
        let changes = self.stack.patch("/artists/me").header("x-forwarded-for", &from).bearer_auth(token);
        self.record.send("profile", changes.json(&json!({"bio": format!("Number {number}")}))).await;
    }

    /// Asks for a code, and returns the request that signs in with it. `kind` names the kind of the first request.
    pub async fn login(&self, number: usize, kind: impl Fn(&'static str) -> &'static str) -> Option<RequestBuilder> {
        let email = unused_email();
        let post = |path, body| self.stack.post(path).header("x-forwarded-for", address(number)).json(&body);
        let (status, _) = self.record.send(kind("sign-in"), post("/oauth/code", json!({"email": email}))).await;
        let code = if status == 200 { self.mailbox.code(&email).await } else { None };
        code.map(|code| post("/oauth/login", json!({"email": email, "code": code})))
    }

    /// Changes a moment's document, and waits until the change is mined.
    pub async fn write(&self) {
        self.record.send("write", self.writing()).await;
    }

    pub fn writing(&self) -> RequestBuilder {
        let number = self.next();
        let writer = &self.writers[number % self.writers.len().max(1)];
        let moment = json!({"collectionAddress": writer.collection, "tokenId": "1"});
        let body = json!({"moment": moment, "newUri": format!("ar://load/{number}")});
        let request = self.stack.post("/registry/metadata/moment").header("x-api-key", &writer.key);
        request.header("x-forwarded-for", address(number)).json(&body)
    }

    /// Number of the next user.
    pub fn next(&self) -> usize {
        self.number.fetch_add(1, Ordering::Relaxed)
    }
}

/// The codes that were mailed. The list holds every mail, so it is read seldom and for all who wait.
struct Mailbox {
    url: String,
    codes: Mutex<(Option<Instant>, HashMap<String, String>)>,
}

impl Mailbox {
    const PAUSE: Duration = Duration::from_millis(500);

    fn of(stack: &Stack) -> Self {
        Self { url: stack.map.mail.clone(), codes: Mutex::default() }
    }

    /// The code that was mailed to an address, once it is there.
    async fn code(&self, email: &str) -> Option<String> {
        for _ in 0..40 {
            let mut codes = self.codes.lock().await;
            if let Some(code) = codes.1.get(email) {
                return Some(code.clone());
            }
            if codes.0.is_none_or(|at| at.elapsed() >= Self::PAUSE) {
                let mails = mail::all(&self.url).await.unwrap_or_default();
                let code = |mail: &mail::Mail| Some((mail.to.first()?.clone(), mail::code_in(mail)?.to_owned()));
                *codes = (Some(Instant::now()), mails.iter().filter_map(code).collect());
                continue;
            }
            drop(codes);
            tokio::time::sleep(Self::PAUSE / 4).await;
        }
        None
    }
}

/// The stack behind its distribution and firewall; without them if `EDGE` is `never`.
pub fn at_the_edge() -> Stack {
    let mut stack = Stack::connect();
    if let Some(edge) = stack.map.edge.take().filter(|_| env::var("EDGE").as_deref() != Ok("never")) {
        stack.map.api = edge;
    }
    stack
}

/// A connection to the stack from an address of its own.
pub fn client(number: usize) -> Result<Stack, Error> {
    let (name, value) = (HeaderName::from_static("x-forwarded-for"), HeaderValue::from_str(&address(number))?);
    let headers = HeaderMap::from_iter([(name, value)]);
    Ok(Stack { http: reqwest::Client::builder().default_headers(headers).build()?, ..Stack::connect() })
}

/// Honest users have some sixty thousand addresses, strangers others.
pub fn address(number: usize) -> String {
    let net = 1 + number / STRANGERS % 250;
    format!("10.{net}.{}.{}", number / 250 % 250, number % 250)
}
