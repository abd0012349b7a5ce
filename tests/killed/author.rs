use std::{cell::Cell, fmt, time::Duration};

use alloy::primitives::Address;
use serde_json::{Value, json};
use tests::{Answer, Stack, Writer, history::Dice};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

/// Pause before a request is sent again.
const PAUSE: Duration = Duration::from_millis(100);
/// Most tries of one request.
const MOST_TRIES: usize = 200;
/// Longer than the service takes for any answer.
const PATIENCE: Duration = Duration::from_secs(40);
/// One of so many tries is given up before its answer, after this many milliseconds at most.
const IMPATIENCE: u64 = 4;
const SHORT_PATIENCE: u64 = 500;

/// An artist who sends each write again until its outcome is final.
pub struct Author<'a> {
    pub stack: &'a Stack,
    pub writer: &'a Writer,
    /// What they write to.
    pub collection: Address,
    pub tally: &'a Tally,
}

/// A write, and the last answer to it.
pub struct Wish {
    pub uri: String,
    pub answer: Answer,
}

/// What all authors saw.
#[derive(Default)]
pub struct Tally {
    /// Answers that were given up.
    given_up: Cell<usize>,
    /// Answers of the gateway for a process that was killed.
    killed: Cell<usize>,
    /// Other answers that weren't final.
    open: Cell<usize>,
    /// Final answers to a write that an earlier try had queued.
    pub replayed: Cell<usize>,
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { given_up, killed, open, replayed } = self;
        let [given_up, killed, open, replayed] = [given_up, killed, open, replayed].map(Cell::get);
        write!(formatter, "answers: {given_up} given up, {killed} lost, {open} not final, {replayed} replayed")
    }
}

fn count(counter: &Cell<usize>) {
    counter.set(counter.get() + 1);
}

impl Author<'_> {
    /// Writes one after the other, while `goes_on` says so of how many there are: each begins when the one before is final.
    pub async fn write_while(&self, seed: u64, index: usize, goes_on: impl Fn(u64) -> bool) -> Vec<Wish> {
        let mut dice = Dice::at(seed << 40 | (index as u64) << 32);
        let mut wishes = Vec::new();
        for number in (0..).take_while(|number| goes_on(*number)) {
            let uri = format!("ar://killed/{seed}/{index}/{number}");
            let (path, body) = self.request(&uri, (number + index as u64).is_multiple_of(2));
            let key = Uuid::new_v4().to_string();
            let send = || self.stack.post(path).header("x-api-key", &self.writer.key).header("idempotency-key", &key);
            let answer = self.insist(&mut dice, || send().json(&body)).await;
            if answer.header("idempotent-replayed") == "true" {
                count(&self.tally.replayed);
            }
            wishes.push(Wish { uri, answer });
        }
        wishes
    }

    /// A new moment, or a new URI of token 1.
    fn request(&self, uri: &str, creates: bool) -> (&'static str, Value) {
        if creates {
            let sale = json!({"type": "fixedPrice", "pricePerToken": "0", "saleStart": 0, "saleEnd": u64::MAX});
            let token = json!({"tokenMetadataURI": uri, "salesConfig": sale});
            return ("/moment/create", json!({"contract": {"address": self.collection}, "token": token}));
        }
        let moment = json!({"collectionAddress": self.collection, "tokenId": "1"});
        ("/registry/metadata/moment", json!({"moment": moment, "newUri": uri}))
    }

    /// The outcome of a write, as the service tells it.
    pub async fn transaction(&self, id: &str) -> Answer {
        let request = || self.stack.get(&format!("/transactions/{id}")).header("x-api-key", &self.writer.key);
        self.insist(&mut Dice::at(0), request).await
    }

    async fn insist(&self, dice: &mut Dice, request: impl Fn() -> reqwest::RequestBuilder) -> Answer {
        let mut last = None;
        for _ in 0..MOST_TRIES {
            let short = Duration::from_millis(dice.roll(SHORT_PATIENCE));
            let patience = if dice.roll(IMPATIENCE) == 0 { short } else { PATIENCE };
            match timeout(patience, Answer::of(request())).await {
                Err(_) => count(&self.tally.given_up),
                Ok(answer) if is_final(answer.status) => return answer,
                Ok(answer) => {
                    let is_killed = answer.body == json!({"message": "Internal Server Error"});
                    count(if is_killed { &self.tally.killed } else { &self.tally.open });
                    last = Some(answer);
                }
            }
            sleep(PAUSE).await;
        }
        panic!("no final answer after {MOST_TRIES} tries: {last:?}");
    }
}

fn is_final(status: u16) -> bool {
    match status {
        202 | 409 | 429 => false,
        status => status < 500,
    }
}
