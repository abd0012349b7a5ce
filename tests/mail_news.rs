//! Mails of collects and comments, and `POST /mails/unsubscribe`.

use aws_sdk_dynamodb::types::AttributeValue;
use local::database::LocalDatabase;
use serde_json::{Value, json};
use shared::{
    model::{ArtistId, EventId, MomentRef, NewsMails},
    store::artist::{ArtistTable, DueNews, News, NewsQueue},
};
use tests::{
    Answer, Collector, DAY, HOUR, Sandbox, SignedIn, Stack, document, empty_tables, eventually, unused_email,
    within_one_window,
};
use uuid::Uuid;

/// What waits at the database with this address.
async fn queue(stack: &Stack, database: &str) -> NewsQueue {
    let aws = stack.endpoints().sdk_config(database).await;
    NewsQueue::new(ArtistTable::new(&aws, &*stack.map.names["ArtistTable"]))
}

fn a_moment(stack: &Stack) -> MomentRef {
    MomentRef::whole("8453".parse().expect("a chain"), stack.demo_collection(0).into())
}

fn text(value: &str) -> AttributeValue {
    AttributeValue::S(value.to_owned())
}

/// Whether an artist's day doesn't end within an hour, which has what is new mailed.
fn has_time(artist: ArtistId, now: u64) -> bool {
    NewsMails::Daily.due(artist, now).is_some_and(|due| due > now + HOUR.as_secs())
}

/// An artist with a mail address, alone in tables that no schedule looks into. Their day doesn't end within an hour.
struct Alone {
    database: LocalDatabase,
    queue: NewsQueue,
    artist: ArtistId,
    email: String,
    now: u64,
}

impl Alone {
    async fn new(stack: &Stack) -> Self {
        let (database, email) = (empty_tables(stack).await, unused_email());
        let now = shared::clock::now().expect("a time").as_secs();
        let artist = std::iter::repeat_with(|| Uuid::now_v7().to_string().parse::<ArtistId>().expect("an id"))
            .find(|artist| has_time(*artist, now))
            .expect("an artist");
        let alone = Self { queue: queue(stack, &database.endpoint).await, artist, email, now, database };
        let contact = format!("CONTACT#{artist}");
        put(
            stack,
            &alone.database.endpoint,
            &[("pk", text(&contact)), ("sk", text("EMAIL")), ("email", text(&alone.email))],
        )
        .await;
        alone
    }

    /// Something new waits, and is due.
    async fn tell(&self, stack: &Stack) {
        let event: EventId = Uuid::new_v4().to_string().parse().expect("an id");
        let news = News::new(event, a_moment(stack), None, self.now);
        self.queue.change([(self.artist, event, Some((1, news)))]).await.expect("news");
    }

    async fn mails(&self, stack: &Stack) -> usize {
        stack.mails_to(&self.email).await.len()
    }

    async fn waiting(&self) -> Vec<EventId> {
        self.queue.news(self.artist).await.expect("news").iter().map(|news| news.event).collect()
    }
}

async fn put(stack: &Stack, database: &str, fields: &[(&str, AttributeValue)]) {
    let client = aws_sdk_dynamodb::Client::new(&stack.endpoints().sdk_config(database).await);
    let row = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    client.put_item().table_name(&stack.map.names["ArtistTable"]).set_item(Some(row)).send().await.expect("a row");
}

async fn run(sandbox: &Sandbox) {
    let answer = sandbox.invoke(&sandbox.event()).await;
    assert!(answer["errorMessage"].is_null(), "{answer}");
}

/// Waits until so much waits to be mailed to an artist.
async fn wait_for(queue: &NewsQueue, artist: ArtistId, count: usize) -> Vec<News> {
    eventually(format!("{count} events to be mailed"), async || {
        let news = queue.news(artist).await.expect("news");
        (news.len() >= count).then_some(news)
    })
    .await
}

/// Has what waits for an artist of the stack be due, and mails it.
async fn mail(stack: &Stack, sandbox: &Sandbox, artist: ArtistId) {
    let due = format!("000000000001#{artist}");
    let row = [("pk", text("NEWS_DUE")), ("sk", text(&due)), ("artist_id", text(&artist.to_string()))];
    let row = [&row[..], &[("due", AttributeValue::N("1".to_owned()))]].concat();
    put(stack, &stack.map.dynamodb, &row).await;
    run(sandbox).await;
}

async fn choose(stack: &Stack, artist: &SignedIn, choice: &str) -> Answer {
    Answer::of(stack.patch("/artists/me").bearer_auth(&artist.token).json(&json!({"news_mails": choice}))).await
}

async fn choice(stack: &Stack, artist: &SignedIn) -> Value {
    let request = stack.get("/artists/activity").bearer_auth(&artist.token);
    Answer::of(request).await.expect_success().body["newsMails"].clone()
}

async fn unsubscribe(stack: &Stack, token: &str) -> Answer {
    // What mail programs send (RFC 8058).
    let request = stack.post(&format!("/mails/unsubscribe?token={token}"));
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    Answer::of(request.body("List-Unsubscribe=One-Click")).await
}

async fn collect(stack: &Stack, by: &Collector, collection: &str, amount: u32, comment: Option<&str>) {
    stack.set_balance(by.account, 1_000_000_000_000_000_000).await;
    let mut order = json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "amount": amount});
    if let Some(comment) = comment {
        order["comment"] = json!(comment);
    }
    stack.write("/moment/collect", &by.key, &order, &[]).await.expect_success();
}

#[tokio::test]
async fn artist_is_mailed_of_what_others_did_and_stops_it_with_one_press() {
    let stack = Stack::connect();
    // The stack's own schedule would mail a part of it when the artist's day ends.
    let (artist, id) = loop {
        let artist = stack.new_collector().await;
        let id: ArtistId = stack.artist_id(&artist.artist).parse().expect("an id");
        if has_time(id, shared::clock::now().expect("a time").as_secs()) {
            break (artist, id);
        }
    };
    let friend = stack.new_collector().await;
    let queue = queue(&stack, &stack.map.dynamodb).await;
    let sandbox = Sandbox::with_variables(&stack, "mail-news", &[]).await;
    let collection = stack.release(&artist.key, "Piers", &[document("Pier", "image/png")]).await.to_string();
    let path = format!("/moment?collectionAddress={collection}&tokenId=1");
    stack.wait_until(&path, |body| !body["metadata"].is_null()).await;

    collect(&stack, &artist, &collection, 5, Some("My own")).await;
    collect(&stack, &friend, &collection, 2, Some("Look at https://evil.example")).await;
    assert_eq!(wait_for(&queue, id, 2).await.len(), 2, "what the artist does is no news");
    let before = stack.mails_to(&artist.artist.email).await.len();
    mail(&stack, &sandbox, id).await;
    // The stack's own schedule may have been faster.
    eventually("all is mailed", async || queue.news(id).await.expect("news").is_empty().then_some(())).await;
    mail(&stack, &sandbox, id).await;
    let mails = stack.mails_to(&artist.artist.email).await;
    let [mail_of_news] = &mails[before..] else { panic!("{} mails instead of one", mails.len() - before) };
    assert_eq!(mail_of_news.subject, "Pier: 2 copies collected, 1 comment");
    let (text, html) = (&mail_of_news.body_text, &mail_of_news.body_html);
    assert!(text.contains(&format!("/m/8453/{collection}/1")), "{text}");
    assert!(!format!("{mail_of_news:?}").contains("evil.example"), "a stranger's words were mailed");
    let token = text.split_once("/manage#unsubscribe=").and_then(|(_, rest)| rest.split_whitespace().next());
    let token = token.expect("a link that stops them");
    assert!(html.contains(token), "{html}");

    let guessed = format!("{id}.{}", Uuid::new_v4());
    unsubscribe(&stack, &guessed).await.expect_error(404);
    unsubscribe(&stack, "x").await.expect_error(400);
    assert_eq!(choice(&stack, &artist.artist).await, "daily");
    for _ in 0..2 {
        unsubscribe(&stack, token).await.expect_success();
    }
    assert_eq!(choice(&stack, &artist.artist).await, "none");
    collect(&stack, &friend, &collection, 1, None).await;
    stack.wait_until(&path, |body| body["supply"]["minted"] == "8").await;
    mail(&stack, &sandbox, id).await;
    assert_eq!(stack.mails_to(&artist.artist.email).await.len(), before + 1);
}

#[tokio::test]
async fn artists_choose_how_often_and_nobody_else_sees_it() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    assert_eq!(choice(&stack, &artist).await, "daily");
    for word in ["each", "none", "daily"] {
        let answer = choose(&stack, &artist, word).await.expect_success();
        assert!(answer.body.get("news_mails").is_none(), "{}", answer.body);
        assert_eq!(choice(&stack, &artist).await, word);
    }
    assert_eq!(choose(&stack, &artist, "weekly").await.expect_error(400).failing_fields(), ["news_mails"]);
}

#[tokio::test]
async fn twelve_mails_a_day_are_enough_and_the_rest_waits_for_the_next() {
    let stack = Stack::connect();
    let (alone, mailed, waiting) = within_one_window(DAY, async || {
        let alone = Alone::new(&stack).await;
        let sandbox = Sandbox::with_database(&stack, "mail-news", &alone.database.endpoint).await;
        for _ in 0..14 {
            alone.tell(&stack).await;
            run(&sandbox).await;
        }
        let (mailed, waiting) = (alone.mails(&stack).await, alone.waiting().await);
        (alone, mailed, waiting)
    })
    .await;
    assert_eq!((mailed, waiting.len()), (12, 2));
    assert!(alone.queue.due(alone.now + 1_000, 9).await.expect("a queue").is_empty());
    let next = NewsMails::Daily.due(alone.artist, alone.now).expect("a day");
    let due = alone.queue.due(next, 9).await.expect("a queue");
    assert_eq!(due, [DueNews { due: next, artist_id: alone.artist }], "it is mailed at the end of the artist's day");
}

#[tokio::test]
async fn news_wait_while_there_is_no_room_for_any() {
    let stack = Stack::connect();
    let alone = Alone::new(&stack).await;
    alone.tell(&stack).await;
    run(&Sandbox::with(&stack, "mail-news", &[("MAILS_DAILY", "3")], &alone.database.endpoint).await).await;
    assert_eq!((alone.mails(&stack).await, alone.waiting().await.len()), (0, 1));
    let due = alone.queue.due(alone.now + 1_000, 9).await.expect("a queue");
    assert!(matches!(due[..], [DueNews { due, .. }] if due > alone.now), "{due:?}");
    alone.tell(&stack).await;
    run(&Sandbox::with_database(&stack, "mail-news", &alone.database.endpoint).await).await;
    assert_eq!((alone.mails(&stack).await, alone.waiting().await.len()), (1, 0));
}

#[tokio::test]
async fn what_the_chain_took_back_is_not_mailed() {
    let stack = Stack::connect();
    let Alone { queue, artist, now, database, .. } = Alone::new(&stack).await;
    let moment = a_moment(&stack);
    let [kept, gone]: [EventId; 2] = [(); 2].map(|()| Uuid::new_v4().to_string().parse().expect("an id"));
    let told = |event| (artist, event, Some((now, News::new(event, moment, None, now))));
    let left = async || queue.news(artist).await.expect("news").iter().map(|news| news.event).collect::<Vec<_>>();
    // The last word on each counts, in one part of the log and across parts.
    queue.change([told(gone), told(kept), (artist, kept, None), (artist, gone, None), told(kept)]).await.expect("news");
    assert_eq!(left().await, [kept]);
    queue.change([told(gone)]).await.expect("news");
    queue.change([(artist, gone, None)]).await.expect("news");
    assert_eq!(left().await, [kept]);
    drop(database);
}
