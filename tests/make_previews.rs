//! The worker that makes previews, what answers say of them, and `GET /previews/{picture}/{width}`.

use std::hash::{DefaultHasher, Hash, Hasher};

use base64::{Engine, prelude::BASE64_STANDARD};
use local::desk::Desk;
use serde_json::{Value, json};
use shared::{
    model::{ChainId, Picture, Reason},
    store::{
        artist::{ArtistTable, Moderation, RemovedPicture},
        chain::{ChainTable, Documents, NamedDocument, PreviewQueue},
    },
};
use tests::{Answer, Collector, DatabaseProxy, Sandbox, Stack};
use uuid::Uuid;

/// A red dot, and a file that says that it is a picture.
const RED: &str = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='4' height='2'><rect width='4' height='2' fill='%23ff0000'/></svg>";
const LIE: &str = "data:image/png;base64,PGh0bWw+";

fn document(name: &str, image: &str) -> String {
    let document = json!({"name": name, "image": image, "content": {"mime": "image/png", "uri": image}}).to_string();
    format!("data:application/json;base64,{}", BASE64_STANDARD.encode(document))
}

#[tokio::test]
async fn pictures_of_new_documents_have_previews() {
    let stack = Stack::connect();
    let artist = stack.new_collector().await;
    let uris = [document("Red", RED), document("Lie", LIE)];
    let collection = stack.release(&artist.key, "Previews", &uris).await;
    let path = |token: u8| format!("/moment?collectionAddress={collection}&tokenId={token}");
    let red = stack.wait_until(&path(1), |body| !body["metadata"]["placeholder"].is_null()).await;
    let (metadata, host) = (&red["metadata"], &stack.map.files);
    let widths: Vec<_> = metadata["previews"].as_array().expect("previews").iter().map(|form| &form["width"]).collect();
    assert_eq!(widths, [320, 640, 1280]);
    let uri = RED.replace(' ', "%20").replace('<', "%3C").replace('>', "%3E");
    let url = format!("{host}/previews/{}/320", Picture::hash(&uri));
    assert_eq!(
        metadata["previews"][0],
        json!({"uri": uri, "url": url, "width": 320, "height": 160, "mime": "image/webp"})
    );
    assert_eq!(metadata["placeholder"]["color"], "#ff0000");
    let content = &metadata["content"];
    assert_eq!((&content["width"], &content["height"]), (&json!(1280), &json!(640)));

    let preview = stack.http.get(&url).send().await.expect("an answer");
    let header = |name: &str| preview.headers()[name].to_str().expect("text").to_owned();
    assert_eq!((preview.status().as_u16(), header("content-type").as_str()), (200, "image/webp"));
    assert_eq!(header("cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(header("content-security-policy"), shared::model::FILES_POLICY);
    let bytes = preview.bytes().await.expect("bytes");
    assert!(bytes.starts_with(b"RIFF") && bytes.len() < 2_000, "{}", bytes.len());

    let page = stack.http.get(red["page"].as_str().expect("a page")).send().await.expect("a page");
    let page = page.text().await.expect("text");
    assert!(
        page.contains(&format!("srcset=\"{url} 320w, ")) && page.contains("width=\"1280\" height=\"640\""),
        "{page}"
    );
    let lie = stack.wait_until(&path(2), |body| !body["metadata"].is_null()).await;
    assert_eq!((&lie["metadata"]["previews"], &lie["metadata"]["placeholder"]), (&json!([]), &Value::Null));
}

/// A drawing of 81 squares that a seed chooses, in grays that a tint shifts.
fn drawing(seed: u64, tint: u64) -> String {
    let square = |place: u64| {
        let mut hasher = DefaultHasher::new();
        (seed, place).hash(&mut hasher);
        let gray = hasher.finish() % 200 + tint;
        let (x, y) = (place % 9 * 20, place / 9 * 20);
        format!("<rect x='{x}' y='{y}' width='20' height='20' fill='rgb({gray},{gray},{gray})'/>")
    };
    let squares: String = (0..81).map(square).collect();
    format!("<svg xmlns='http://www.w3.org/2000/svg' width='180' height='180'>{squares}</svg>")
}

/// Publishes a drawing, and returns its URI once it has previews.
async fn published(stack: &Stack, artist: &Collector, drawing: &str) -> String {
    let body = json!({"contentType": "image/svg+xml", "size": drawing.len()});
    let begun =
        Answer::of(stack.post("/uploads").bearer_auth(&artist.artist.token).json(&body)).await.expect_success().body;
    let url = begun["parts"][0]["url"].as_str().expect("a URL");
    stack.http.put(url).body(drawing.to_owned()).send().await.expect("an answer").error_for_status().expect("success");
    let id = begun["uploadId"].as_str().expect("an id");
    let stored = stack.complete_upload(&artist.artist, id).await.expect_success().body;
    let uri = stored["uri"].as_str().expect("a URI").to_owned();
    let document = json!({"name": Uuid::new_v4(), "image": uri});
    let stored =
        Answer::of(stack.post("/metadata").bearer_auth(&artist.artist.token).json(&document)).await.expect_success();
    let named = [stored.body["uri"].as_str().expect("a URI").to_owned()];
    let collection = stack.release(&artist.key, "Drawn", &named).await;
    let path = format!("/moment?collectionAddress={collection}&tokenId=1");
    stack.wait_until(&path, |body| !body["metadata"]["placeholder"].is_null()).await;
    uri.replace("ipfs://", "cid#")
}

#[tokio::test]
async fn picture_that_looks_like_a_removed_one_is_reported() {
    let stack = Stack::connect();
    let artist = stack.new_collector().await;
    let desk = Desk::of_stack(&stack.map, "the night shift").await.expect("a desk");
    let run = async |words: &[&str]| {
        desk.run(&words.iter().map(ToString::to_string).collect::<Vec<_>>()).await.expect("done")
    };
    let seed = Uuid::new_v4().as_u64_pair().0;
    println!("drawings of {seed}");
    let removed = published(&stack, &artist, &drawing(seed, 0)).await;
    run(&["remove", &removed, "copyright", "hers"]).await;
    let alike = published(&stack, &artist, &drawing(seed, 5)).await;
    let other = published(&stack, &artist, &drawing(seed ^ 1, 0)).await;
    let list = run(&["list"]).await;
    assert!(list.contains(&format!("{alike}  1 reports, the last for copyright")), "{list}");
    assert!(!list.contains(&other), "{list}");
    assert!(run(&["show", &alike]).await.contains(&format!("looks like {removed}, which was removed")));

    run(&["undo", &removed]).await;
    let again = published(&stack, &artist, &drawing(seed, 9)).await;
    assert!(!run(&["list"]).await.contains(&again), "nothing is removed that it looks like");
}

#[tokio::test]
async fn previews_of_a_picture_elsewhere_go_and_come_back_with_its_moment() {
    let stack = Stack::connect();
    let artist = stack.new_collector().await;
    let desk = Desk::of_stack(&stack.map, "the night shift").await.expect("a desk");
    let ask = async |words: &[&str]| desk.run(&words.iter().map(ToString::to_string).collect::<Vec<_>>()).await;
    let run = async |words: &[&str]| ask(words).await.expect("done");
    let publish = async |picture: &str| {
        let collection = stack.release(&artist.key, "Elsewhere", &[document("Shown", picture)]).await.to_lowercase();
        let path = format!("/moment?collectionAddress={collection}&tokenId=1");
        (format!("moment#8453#{collection}#1"), path)
    };
    let is_previewed = |body: &Value| !body["metadata"]["placeholder"].is_null();
    let shown = picture();
    let (subject, path) = publish(&shown).await;
    let moment = stack.wait_until(&path, is_previewed).await;
    let preview = moment["metadata"]["previews"][0]["url"].as_str().expect("an address").to_owned();
    let status = async || stack.http.get(&preview).send().await.expect("an answer").status().as_u16();
    assert_eq!(status().await, 200);

    run(&["hide", &subject, "illegal", "x"]).await;
    let refused = ask(&["remove", &subject, "illegal", "x"]).await.expect_err("another decision").to_string();
    assert!(refused.contains("is hidden already: undo that first"), "{refused}");
    assert_eq!(status().await, 200, "previews were taken away although nothing was decided");
    run(&["undo", &subject]).await;

    run(&["remove", &subject, "illegal", "x"]).await;
    assert_eq!(status().await, 404);
    let (_, again) = publish(&shown).await;
    let (_, later) = publish(&picture()).await;
    stack.wait_until(&later, is_previewed).await;
    stack.wait_until(&again, |body| body["metadata"]["name"] == "Shown").await;
    assert_eq!(status().await, 404, "previews were made again");
    let listed = run(&["list"]).await;
    let entry = listed.lines().find(|line| line.starts_with(&shown[..150])).expect("the picture is listed");
    assert!(entry.ends_with("has no previews anywhere, for illegal"), "{entry}");
    run(&["undo", &subject]).await;
    assert_eq!(status().await, 200);
    assert!(!run(&["list"]).await.contains(&shown[..150]), "it is back");
}

/// Documents that were fetched, in tables of their own.
struct Fetched {
    fetcher: Sandbox,
    queue: PreviewQueue,
    moderation: Moderation,
    /// When, in Unix seconds.
    now: u64,
}

async fn fetched(stack: &Stack, uris: &[String]) -> Fetched {
    let fetcher = Sandbox::with_empty_tables(stack, "fetch-metadata").await;
    let sdk = fetcher.endpoints.sdk_config(&fetcher.endpoints.dynamodb).await;
    let table = ChainTable::new(&sdk, "ChainTable");
    let collection = format!("0x{:040x}", 1).parse().expect("an address");
    let named = uris.iter().map(|uri| NamedDocument { uri, collection, at: 0 });
    Documents::new(table.clone()).queue(ChainId::DEFAULT, named).await.unwrap();
    assert_eq!(fetcher.invoke(&json!({})).await, json!({"fetched": uris.len(), "failed": 0}));
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let queue = PreviewQueue::new(table);
    assert_eq!(queue.due(now, 100).await.unwrap().len(), uris.len());
    Fetched { fetcher, queue, moderation: Moderation::new(ArtistTable::new(&sdk, "ArtistTable")), now }
}

/// A picture that no other test has.
fn picture() -> String {
    let (id, size) = (Uuid::new_v4(), "width='4' height='2'");
    let drawing = format!("<svg xmlns='http://www.w3.org/2000/svg' {size}><title>{id}</title><rect {size}/></svg>");
    format!("data:image/svg+xml;base64,{}", BASE64_STANDARD.encode(drawing))
}

#[tokio::test]
async fn removed_picture_has_previews_once_it_is_back() {
    let stack = Stack::connect();
    let picture = picture();
    let Fetched { fetcher, queue, moderation, now } = fetched(&stack, &[document("Removed", &picture)]).await;
    let worker = Sandbox::with_database(&stack, "make-previews", &fetcher.endpoints.dynamodb).await;
    let done = |shown: u8, plain: u8| json!({"batchItemFailures": [], "previewed": shown, "plain": plain, "failed": 0});
    // As if a run was killed once it had stored them: another document has the same picture.
    let other = fetched(&stack, &[document("Other", &picture)]).await.fetcher;
    let of_other = Sandbox::with_database(&stack, "make-previews", &other.endpoints.dynamodb).await;
    assert_eq!(of_other.invoke(&json!({})).await, done(1, 0));
    let url = format!("{}/previews/{}/320", stack.map.files, Picture::hash(&picture));
    let is_served = async || stack.http.get(&url).send().await.expect("an answer").status() == 200;
    assert!(is_served().await);
    let removed = RemovedPicture { file: None, uri: None, fingerprint: None, reason: Reason::Spam };
    moderation.remember_picture(&picture, &removed).await.unwrap();
    // A second time, too, without a download.
    for _ in 0..2 {
        assert_eq!(worker.invoke(&json!({})).await, done(0, 1));
        let waiting = queue.due(now + 10_000, 100).await.unwrap();
        assert_eq!(waiting.len(), 1);
        // As if its time had come.
        queue.take(&waiting[0], 0).await.unwrap().expect("it waits");
        assert!(!is_served().await);
    }
    moderation.forget_picture(&picture).await.unwrap();
    assert_eq!(worker.invoke(&json!({})).await, done(1, 0));
    assert_eq!(queue.due(now + 1_000_000, 100).await.unwrap(), []);
}

#[tokio::test]
async fn previews_that_are_stored_while_their_picture_is_removed_are_deleted() {
    let stack = Stack::connect();
    let picture = picture();
    let Fetched { fetcher, moderation, .. } = fetched(&stack, &[document("Removed", &picture)]).await;
    let proxy = DatabaseProxy::start().await.expect("a proxy");
    proxy.lead_to(&fetcher.endpoints.dynamodb);
    let worker = Sandbox::with_database(&stack, "make-previews", &proxy.url).await;
    let removed = RemovedPicture { file: None, uri: None, fingerprint: None, reason: Reason::Spam };
    moderation.remember_picture(&picture, &removed).await.unwrap();
    // The worker asks before it stores them, a moment too early.
    proxy.miss_once("REMOVED_PICTURES");
    let done = worker.invoke(&json!({})).await;
    assert_eq!(done, json!({"batchItemFailures": [], "previewed": 0, "plain": 1, "failed": 0}));
    for width in [320, 640, 1280] {
        let path = format!("/previews/{}/{width}", Picture::hash(&picture));
        Answer::of(stack.get(&path)).await.expect_error(404);
    }
}

#[tokio::test]
async fn documents_are_taken_once_and_failures_later() {
    let stack = Stack::connect();
    let elsewhere = document("Elsewhere", "ipfs://bafybeidemofirstlight/missing.png");
    let private = document("Private", "https://169.254.169.254/x.png");
    let Fetched { fetcher, queue, now, .. } =
        fetched(&stack, &[document("Red", RED), document("Lie", LIE), elsewhere, private]).await;
    let worker = Sandbox::with_database(&stack, "make-previews", &fetcher.endpoints.dynamodb).await;
    let done = worker.invoke(&json!({})).await;
    assert_eq!(done, json!({"batchItemFailures": [], "previewed": 1, "plain": 2, "failed": 1}));
    assert_eq!(queue.due(now, 100).await.unwrap(), []);
    let later = queue.due(now + 300, 100).await.unwrap();
    assert_eq!((later.len(), later[0].failures), (1, 1));
    let again = queue.take(&later[0], now + 900).await.unwrap();
    assert!(again.is_some() && queue.take(&later[0], now + 900).await.unwrap().is_none(), "taken twice");
}

#[tokio::test]
async fn unknown_previews_are_404() {
    let stack = Stack::connect();
    for width in ["320", "321"] {
        let answer = Answer::of(stack.get(&format!("/previews/{}/{width}", "0".repeat(64)))).await;
        assert_eq!((answer.status, &answer.body["message"]), (404, &json!("There is no such preview")));
    }
    for path in ["/previews/x/320", &format!("/previews/{}/0", "0".repeat(64))] {
        assert_eq!(Answer::of(stack.get(path)).await.status, 400, "{path}");
    }
}
