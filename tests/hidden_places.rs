//! What the operator hides is nowhere to be seen, and everywhere again after that is undone.

use std::time::Instant;

use local::{desk::Desk, patience};
use serde_json::{Value, json};
use tests::{Answer, PLACES, Place, Shown, Stack, eventually};

use crate::webhooks::receiver::Receiver;

/// An artist's only moment, collected and commented on by the artist.
struct Work {
    stack: Stack,
    contract: String,
    address: String,
    username: String,
    comment: String,
    cursor: String,
}

impl Work {
    async fn new() -> Self {
        let stack = Stack::connect();
        let artist = stack.new_collector().await;
        let cursor = Answer::of(stack.get("/events?after=latest")).await.expect_success().body["next"].clone();
        let address = artist.artist.wallet.to_lowercase();
        let username = format!("name{}", &address[2..14]);
        let rename = stack.patch("/artists/me").bearer_auth(&artist.artist.token).json(&json!({"username": username}));
        Answer::of(rename).await.expect_success();
        let (uri, name) = (format!("ar://{}", Self::word("uri", &address)), Self::word("collection", &address));
        let contract = stack.release(&artist.key, &name, &[uri]).await.to_lowercase();
        stack.set_balance(artist.account, 1_000_000_000_000_000_000).await;
        let order = json!({"moment": {"collectionAddress": contract, "tokenId": "1"}, "amount": 1, "comment": ""});
        stack.write("/moment/collect", &artist.key, &order, &[]).await.expect_success();
        let text = json!({"tokenId": "1", "text": Self::word("comment", &address)});
        stack
            .write(&format!("/comments/eip155:8453/erc1155:{contract}"), &artist.key, &text, &[])
            .await
            .expect_success();
        let path = format!("/comments?collectionAddress={contract}&tokenId=1");
        let comment = stack.wait_for_comment(&path, |comment| !comment["commentId"].is_null()).await;
        let comment = comment["commentId"].as_str().expect("an id").to_owned();
        let cursor = cursor.as_str().expect("a cursor").to_owned();
        Self { stack, contract, address, username, comment, cursor }
    }

    /// A word that nobody else has.
    fn word(of: &str, address: &str) -> String {
        format!("{of}{}", &address[2..14])
    }

    fn marks(&self, shown: Shown) -> Vec<String> {
        match shown {
            Shown::Work => vec![Self::word("uri", &self.address), format!("/m/8453/{}/1", self.contract)],
            Shown::Collection => vec![Self::word("collection", &self.address)],
            Shown::Artist => vec![self.username.clone()],
            Shown::Comment => vec![Self::word("comment", &self.address)],
        }
    }

    /// What a place has: all pages of events, and of a picture that it is there.
    async fn content(&self, place: &Place) -> String {
        let (mut cursor, mut content) = (self.cursor.clone(), String::new());
        let page = format!("@{}", self.username);
        loop {
            let names = [
                ("contract", self.contract.as_str()),
                ("address", &self.address),
                ("artist", &page),
                ("username", &self.username),
                ("cursor", &cursor),
            ];
            let answer = self.stack.http.get(place.url(&self.stack.map.api, &names)).send().await.expect("an answer");
            if answer.status() != 200 {
                return content;
            }
            let is_picture = answer.headers()["content-type"] == "image/png";
            let bytes = answer.bytes().await.expect("a body");
            if is_picture {
                return self.marks(Shown::Work).concat();
            }
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let next = serde_json::from_str(&text).map_or(Value::Null, |body: Value| body["next"].clone());
            content += &text;
            match next.as_str() {
                Some(next) if next != cursor => next.clone_into(&mut cursor),
                _ => return content,
            }
        }
    }

    /// Waits until each place has all that it shows of what there is.
    async fn wait(&self) {
        let mut missing = Vec::new();
        let shown = patience::eventually("all is shown", async || {
            missing = self.wrong(&[]).await;
            Ok(missing.is_empty().then_some(()))
        });
        assert!(shown.await.is_ok(), "{missing:#?}");
    }

    /// Each place has all that it shows of what there is, and nothing of what is gone.
    async fn expect(&self, gone: &[Shown], when: &str) {
        let wrong = self.wrong(gone).await;
        assert!(wrong.is_empty(), "{when}: {wrong:#?}");
    }

    async fn wrong(&self, gone: &[Shown]) -> Vec<(&'static str, (Shown, &'static str))> {
        let mut wrong = Vec::new();
        for place in PLACES {
            let content = self.content(place).await;
            let has = |shown: Shown| self.marks(shown).iter().any(|mark| content.contains(mark.as_str()));
            let too_much = gone.iter().copied().filter(|shown| has(*shown)).map(|shown| (shown, "is there"));
            let all = place.shows.iter().copied().filter(|shown| gone.is_empty() && !has(*shown));
            wrong.extend(too_much.chain(all.map(|shown| (shown, "is missing"))).map(|it| (place.name, it)));
        }
        wrong
    }
}

async fn run(desk: &Desk, arguments: &[&str]) -> String {
    let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    desk.run(&arguments).await.expect("a decision")
}

#[tokio::test]
async fn no_place_shows_what_is_hidden_and_every_place_does_again_after() {
    let work = Work::new().await;
    let desk = Desk::of_stack(&work.stack.map, "the night shift").await.expect("a desk");
    work.wait().await;
    let Work { contract, address, comment, .. } = &work;
    for (subject, gone) in [
        (format!("moment#8453#{contract}#1"), &[Shown::Work][..]),
        (format!("collection#8453#{contract}"), &[Shown::Work, Shown::Collection]),
        (format!("artist#{address}"), &[Shown::Work, Shown::Collection, Shown::Artist]),
        (format!("comment#8453#{comment}"), &[Shown::Comment]),
    ] {
        // The command ends when all places follow, and then has the edge forget what it keeps: one look, without waiting.
        let start = Instant::now();
        run(&desk, &["hide", &subject, "other", "a", "test"]).await;
        println!("{subject}: gone {} ms after the decision", start.elapsed().as_millis());
        work.expect(gone, &format!("{subject} is hidden")).await;
        run(&desk, &["undo", &subject]).await;
        work.expect(&[], &format!("{subject} is shown again")).await;
    }
}

#[tokio::test]
async fn webhooks_are_told_of_what_is_hidden_without_its_words() {
    let (stack, receiver) = (Stack::connect(), Receiver::start().await);
    let artist = stack.new_collector().await;
    let collection = stack.release(&artist.key, "Heard", &["ar://1".to_owned()]).await.to_lowercase();
    let desk = Desk::of_stack(&stack.map, "the night shift").await.expect("a desk");
    let hook = json!({"url": format!("{}/x", receiver.url), "types": ["collection.updated"]});
    Answer::of(stack.post("/webhooks").bearer_auth(&artist.artist.token).json(&hook)).await.expect_success();
    let subject = format!("collection#8453#{collection}");
    stack.wait_until(&format!("/timeline?collection={collection}"), |body| body["moments"][0].is_object()).await;
    let rename = async |name: &str| {
        let request = stack.patch(&format!("/collections/eip155:8453/erc1155:{collection}"));
        let body = json!({"newUri": "ar://renamed", "newCollectionName": name});
        Answer::of_write(request.header("x-api-key", &artist.key).json(&body)).await.expect_success();
    };
    let heard = async |name: &str| {
        eventually(format!("{name:?} is told"), async || {
            let messages: Vec<_> = receiver.messages().iter().map(|message| message.json()).collect();
            let is_told = messages.iter().any(|message| message["data"]["name"] == name);
            is_told.then(|| messages.iter().map(Value::to_string).collect::<String>())
        })
        .await
    };
    run(&desk, &["hide", &subject, "spam", "a", "test"]).await;
    rename("Rude").await;
    let told = heard("").await;
    assert!(!told.contains("Rude") && !told.contains("ar://renamed"), "{told}");
    run(&desk, &["undo", &subject]).await;
    rename("Kind").await;
    heard("Kind").await;
}
