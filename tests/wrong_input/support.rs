//! Requests with wrong input, and the words of their answers.

use serde_json::{Map, Value, json};
use tests::{Answer, SignedIn, Stack, Writer};

/// A publication with a part replaced, by a JSON pointer.
pub(super) fn publication(pointer: &str, value: Value) -> Value {
    let mut body = json!({
        "contract": {"name": "Wrong", "uri": "ar://wrong"},
        "token": {"tokenMetadataURI": "ar://wrong/1", "salesConfig": {}},
    });
    put(&mut body, pointer, value);
    body
}

fn put(body: &mut Value, pointer: &str, value: Value) {
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    let parent = body.pointer_mut(parent).expect("a parent");
    if parent.is_null() {
        *parent = Map::new().into();
    }
    parent[name] = value;
}

pub(super) fn some_moment() -> Value {
    json!({"collectionAddress": "$someone", "tokenId": "1"})
}

pub(super) fn shares(of: &[(&str, u32)]) -> Value {
    of.iter().map(|(address, percent)| json!({"address": address, "percentAllocation": percent})).collect()
}

/// Requests of an artist. `$own`, `$someone`, `$other`, `$zero` and `$wrong` stand for addresses in them.
pub(super) struct Requests {
    stack: Stack,
    artist: SignedIn,
}

impl Requests {
    pub(super) async fn new() -> Self {
        let stack = Stack::connect();
        let artist = stack.new_artist().await;
        Self { stack, artist }
    }

    pub(super) async fn expect_words(&self, request: &str, body: &Value, words: &str) {
        let (method, path) = request.split_once(' ').expect("a method and a path");
        let method = method.parse().expect("a method");
        let sent = self.stack.http.request(method, format!("{}{}", self.stack.map.api, self.filled(path)));
        let sent = if body.is_null() {
            sent
        } else {
            sent.header("content-type", "application/json").body(self.filled(&body.to_string()))
        };
        let answer = Answer::of(sent.bearer_auth(&self.artist.token)).await;
        assert_eq!(answer.status, 400, "{request} {body}: {answer:?}");
        assert_words(&answer, words, request, body);
    }

    pub(super) fn filled(&self, text: &str) -> String {
        let [someone, other, zero] = ['1', '2', '0'].map(|digit| format!("0x{}", digit.to_string().repeat(40)));
        let wrong = "0x833589fCd6eDb6E08f4c7C32d4f71b54bdA02913";
        [
            ("$own", &*self.artist.wallet),
            ("$someone", &*someone),
            ("$other", &*other),
            ("$zero", &*zero),
            ("$wrong", wrong),
        ]
        .into_iter()
        .fold(text.to_owned(), |text, (name, address)| text.replace(name, address))
    }
}

pub(super) async fn expect_words(stack: &Stack, writer: &Writer, path: &str, body: &Value, words: &str) {
    let answer = stack.write_once(path, &writer.key, body, &[]).await;
    assert_eq!(answer.status, 400, "{body}: {answer:?}");
    assert_words(&answer, words, path, body);
}

/// The message alone says enough, and so does the list of wrong fields.
#[track_caller]
pub(super) fn assert_words(answer: &Answer, words: &str, path: &str, body: &Value) {
    let message = answer.body["message"].as_str().unwrap_or_default();
    let fields = answer.body["errors"].as_array().into_iter().flatten();
    let all = fields.map(|error| format!("{} {}", error["field"], error["message"]).replace('"', ""));
    let is_said = message.contains(words) || all.into_iter().any(|field| field.contains(words));
    assert!(is_said, "{path} {body}: expected {words:?} in {answer:?}");
    assert!(!message.contains("see errors") || message.contains(" more: see errors"), "{path}: {message}");
}
