//! The scheduled function that fetches metadata documents.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::json;
use shared::{
    model::{Address, ChainId},
    store::chain::{ChainTable, Documents, NamedDocument, QUEUE_SHARDS},
};
use tests::{Sandbox, Stack, empty_tables, eventually};
use tokio::sync::Semaphore;

const CHAIN: ChainId = ChainId::DEFAULT;

async fn documents(sandbox: &Sandbox) -> Documents {
    let endpoints = &sandbox.endpoints;
    Documents::new(ChainTable::new(&endpoints.sdk_config(&endpoints.dynamodb).await, "ChainTable"))
}

/// The URIs in the queue that are due at `now`, with their number of failures.
async fn queue(documents: &Documents, now: u64) -> HashMap<String, u32> {
    let mut queue = HashMap::new();
    for shard in 0..QUEUE_SHARDS {
        queue.extend(documents.due(shard, now, 100).await.unwrap().into_iter().map(|due| (due.uri, due.failures)));
    }
    queue
}

/// Documents that a collection named long ago.
fn named<'a>(uris: impl IntoIterator<Item = &'a str>) -> impl Iterator<Item = NamedDocument<'a>> {
    uris.into_iter().map(|uri| NamedDocument { uri, collection: collection(1), at: 0 })
}

fn collection(number: u32) -> Address {
    format!("0x{number:040x}").parse().expect("an address")
}

/// Waits until a document is fetched.
async fn wait_for(documents: &Documents, uri: &str) {
    eventually(uri, async || documents.find_many(CHAIN, [uri]).await.unwrap().remove(uri)).await;
}

fn unix_now() -> u64 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs()
}

#[tokio::test]
async fn documents_are_fetched_once_and_failures_are_retried_later() {
    let stack = Stack::connect();
    let sandbox = Sandbox::with_empty_tables(&stack, "fetch-metadata").await;
    let documents = documents(&sandbox).await;
    let good = ["ipfs://bafybeidemofirstlight/1.json", r#"data:application/json,{"name":"In itself","image":7}"#];
    let bad = ["ipfs://bafybeidemofirstlight/missing.json", "https://localhost/x.json", "https://169.254.169.254/"];
    let never = ["http://a.example/1.json", "ftp://a.example", "", &format!("ar://{}", "x".repeat(9_000))];
    documents.queue(CHAIN, named(good.into_iter().chain(bad).chain(never))).await.unwrap();
    documents.queue(CHAIN, named(good.into_iter().chain(good))).await.unwrap();
    assert_eq!(queue(&documents, 0).await.len(), 5);

    assert_eq!(sandbox.invoke(&json!({})).await, json!({"fetched": 2, "failed": 3}));
    let now = unix_now();
    assert_eq!(queue(&documents, now).await, HashMap::new());
    let found = documents.find_many(CHAIN, good.into_iter().chain(bad)).await.unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(found[good[0]].name, "First Light");
    assert_eq!(found[good[0]].content.mime, "image/png");
    assert_eq!((found[good[1]].name.as_str(), found[good[1]].image.as_str()), ("In itself", ""));
    assert_eq!(queue(&documents, now + 60).await, bad.map(|uri| (uri.to_owned(), 1)).into());

    // Queueing again neither refetches known documents nor retries failed ones earlier.
    documents.queue(CHAIN, named(good.into_iter().chain(bad))).await.unwrap();
    assert_eq!(sandbox.invoke(&json!({})).await, json!({"fetched": 0, "failed": 0}));
    assert_eq!(documents.find_many(ChainId(1), good).await.unwrap(), HashMap::new());
}

#[tokio::test]
async fn queued_document_is_fetched_on_schedule() {
    let stack = Stack::connect();
    let table =
        ChainTable::new(&stack.endpoints().sdk_config(&stack.map.dynamodb).await, &stack.map.names["ChainTable"]);
    let documents = Documents::new(table);
    let uri = format!(r#"data:application/json,{{"name":"{}"}}"#, uuid::Uuid::new_v4());
    documents.queue(CHAIN, named([uri.as_str()])).await.unwrap();
    wait_for(&documents, &uri).await;
}

#[tokio::test]
async fn more_uris_than_one_transaction_takes_are_queued() {
    let stack = Stack::connect();
    let sandbox = Sandbox::with_empty_tables(&stack, "fetch-metadata").await;
    let documents = documents(&sandbox).await;
    let uris: Vec<String> = (0..230).map(|number| format!(r#"data:,{{"name":"{number}"}}"#)).collect();
    documents.queue(CHAIN, named(uris.iter().map(String::as_str))).await.unwrap();
    assert_eq!(sandbox.invoke(&json!({})).await, json!({"fetched": 230, "failed": 0}));
    let found = documents.find_many(CHAIN, uris.iter().map(String::as_str)).await.unwrap();
    assert_eq!(found.len(), 230);
    assert!(found.iter().all(|(uri, document)| **uri == format!(r#"data:,{{"name":"{}"}}"#, document.name)));
}

/// The function with a gateway of its own.
async fn behind_gateway(stack: &Stack, routes: axum::Router) -> Sandbox {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let gateway = format!("http://{address}/ipfs/");
    tokio::spawn(axum::serve(listener, routes).into_future());
    let database = empty_tables(stack).await;
    let gateways = [("IPFS_GATEWAYS", gateway.as_str()), ("PRIVATE_GATEWAYS", address.as_str())];
    Sandbox::with(stack, "fetch-metadata", &gateways, &database.endpoint).await
}

#[tokio::test]
async fn document_that_was_read_once_is_not_asked_for_by_a_new_index() {
    let stack = Stack::connect();
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let answer = async move |_: axum::extract::Path<String>| {
        let number = counter.fetch_add(1, Ordering::SeqCst);
        format!(r#"{{"name": "{number}"}}"#)
    };
    let sandbox = behind_gateway(&stack, axum::Router::new().route("/ipfs/{*path}", axum::routing::get(answer))).await;
    let documents = documents(&sandbox).await;
    let uris: Vec<String> = (0..120).map(|number| format!("ipfs://tides/{number}")).collect();
    let uris = || uris.iter().map(String::as_str);
    documents.queue(CHAIN, named(uris())).await.unwrap();
    assert_eq!(sandbox.invoke(&json!({})).await, json!({"fetched": 120, "failed": 0}));
    let first = documents.find_many(CHAIN, uris()).await.unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 120);

    // The table of a new index is empty.
    let endpoints = &sandbox.endpoints;
    let client = aws_sdk_dynamodb::Client::new(&endpoints.sdk_config(&endpoints.dynamodb).await);
    client.delete_table().table_name("ChainTable").send().await.expect("deleted");
    let template = local::paths::Paths::of_checkout().template().expect("a template");
    let table = template.resources("AWS::DynamoDB::Table").find(|table| table.logical_id == "ChainTable");
    endpoints.create_table(table.expect("a table")).await.expect("a table");
    documents.queue(CHAIN, named(uris())).await.unwrap();
    assert_eq!(sandbox.invoke(&json!({})).await, json!({"fetched": 120, "failed": 0}));
    assert_eq!(documents.find_many(CHAIN, uris()).await.unwrap(), first);
    assert_eq!(asked.load(Ordering::SeqCst), 120, "nobody's host is asked again");
}

#[tokio::test]
async fn document_is_read_again_when_asked_for_and_given_up_after_five_failures() {
    let stack = Stack::connect();
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let answer = async move |path: axum::extract::Path<String>| {
        let number = counter.fetch_add(1, Ordering::SeqCst);
        match path.as_str() {
            "tides/changes" => format!(r#"{{"name": "{number}", "image": "ar://{number}"}}"#),
            _ if number > 1 => String::new(),
            _ => r#"{"name": "gone"}"#.to_owned(),
        }
    };
    let sandbox = behind_gateway(&stack, axum::Router::new().route("/ipfs/{*path}", axum::routing::get(answer))).await;
    let documents = documents(&sandbox).await;
    let [changes, gone] = ["ipfs://tides/changes", "ipfs://tides/gone"];
    let name = async |uri| documents.find_many(CHAIN, [uri]).await.unwrap().remove(uri).unwrap().name;
    documents.queue(CHAIN, named([gone, changes])).await.unwrap();
    assert_eq!(sandbox.invoke(&json!({})).await, json!({"fetched": 2, "failed": 0}));
    let (before, now) = (name(changes).await, unix_now());
    let again = |uri, at| [NamedDocument { uri, collection: collection(1), at }];

    // What was read later than it was named isn't asked for.
    documents.read_again(CHAIN, again(changes, now - 60)).await.unwrap();
    assert_eq!(sandbox.invoke(&json!({})).await, json!({"fetched": 1, "failed": 0}));
    assert_eq!((name(changes).await, asked.load(Ordering::SeqCst)), (before.clone(), 2));
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    documents.read_again(CHAIN, again(changes, unix_now())).await.unwrap();
    assert_eq!(sandbox.invoke(&json!({})).await, json!({"fetched": 1, "failed": 0}));
    assert_ne!(name(changes).await, before);

    documents.read_again(CHAIN, again(gone, unix_now())).await.unwrap();
    for failures in 1..=5_u32 {
        assert_eq!(sandbox.invoke(&json!({})).await, json!({"fetched": 0, "failed": 1}));
        for shard in 0..QUEUE_SHARDS {
            for due in documents.due(shard, unix_now() + 86_400, 10).await.unwrap() {
                assert_eq!((due.uri.as_str(), due.failures), (gone, failures));
                documents.put_off(&due, 0).await.unwrap();
            }
        }
    }
    assert_eq!(queue(&documents, unix_now() + 86_400).await, HashMap::new());
    assert_eq!(name(gone).await, "gone", "it stays as it was read");
}

#[tokio::test]
async fn what_is_put_off_to_the_second_of_a_wish_to_read_it_again_leaves_it_there() {
    let stack = Stack::connect();
    let sandbox = Sandbox::with_empty_tables(&stack, "fetch-metadata").await;
    let documents = documents(&sandbox).await;
    let uri = "ipfs://tides/both";
    let queued = async || {
        let mut queued = Vec::new();
        for shard in 0..QUEUE_SHARDS {
            queued.extend(documents.due(shard, 1_000, 10).await.unwrap());
        }
        queued
    };
    documents.queue(CHAIN, named([uri])).await.unwrap();
    let first = queued().await.remove(0);
    documents.read_again(CHAIN, [NamedDocument { uri, collection: collection(1), at: 500 }]).await.unwrap();
    documents.put_off(&first, 500).await.unwrap();
    let times: Vec<_> = queued().await.iter().map(|due| (due.due_at(), due.since)).collect();
    assert_eq!(times, [(500, Some(500)), (501, None)]);
}

#[tokio::test]
async fn documents_that_hang_hold_up_no_other_collection() {
    let stack = Stack::connect();
    let (asked, asked_before) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let before = Arc::clone(&asked_before);
    let answer = async move |path: axum::extract::Path<String>| {
        if path.starts_with("hung") {
            asked.fetch_add(1, Ordering::SeqCst);
            std::future::pending::<()>().await;
        }
        before.store(asked.load(Ordering::SeqCst), Ordering::SeqCst);
        r#"{"name": "First Light"}"#
    };
    let sandbox = behind_gateway(&stack, axum::Router::new().route("/ipfs/{*path}", axum::routing::get(answer))).await;
    let documents = documents(&sandbox).await;
    // More than there are places, and looked at first.
    let hung: Vec<String> = (0..200).map(|number| format!("ipfs://hung/{number}")).collect();
    let newer = hung.iter().map(|uri| NamedDocument { uri, collection: collection(1), at: 200 });
    documents.queue(CHAIN, newer).await.unwrap();
    // In the queue's last shard, which has few of those: the first look finds it.
    let uri = "ipfs://tides/9";
    let other = NamedDocument { uri, collection: collection(2), at: 100 };
    documents.queue(CHAIN, [other]).await.unwrap();
    sandbox.start(&json!({})).await;
    wait_for(&documents, uri).await;
    // A collection has four of 96 places. A fetch that hangs ends after five seconds, so a slow machine asks for more
    // before.
    assert!(asked_before.load(Ordering::SeqCst) < 48, "they have places of others");
}

#[tokio::test]
async fn new_document_waits_for_no_backlog() {
    let stack = Stack::connect();
    let (asked, asked_before) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (before, held) = (Arc::clone(&asked_before), Arc::new(Semaphore::new(0)));
    let answer = async move |path: axum::extract::Path<String>| {
        if path.starts_with("backlog") {
            asked.fetch_add(1, Ordering::SeqCst);
            // There are no permits: it waits until the new document is asked for.
            let _ = held.acquire().await;
        } else {
            before.store(asked.load(Ordering::SeqCst), Ordering::SeqCst);
            held.close();
        }
        r#"{"name": "First Light"}"#
    };
    let sandbox = behind_gateway(&stack, axum::Router::new().route("/ipfs/{*path}", axum::routing::get(answer))).await;
    let documents = documents(&sandbox).await;
    let backlog: Vec<(String, Address)> =
        (0..480).map(|number| (format!("ipfs://backlog/{number}"), collection(number))).collect();
    let old = backlog.iter().map(|(uri, collection)| NamedDocument { uri, collection: *collection, at: 0 });
    documents.queue(CHAIN, old).await.unwrap();
    // In the queue's last shard, after those that are looked at there.
    let uri = "ipfs://tides/new-37";
    documents.queue(CHAIN, [NamedDocument { uri, collection: collection(1_000), at: 100 }]).await.unwrap();

    sandbox.start(&json!({})).await;
    wait_for(&documents, uri).await;

    // It is among the first 96. The oldest alone would be asked for before it, but for those that are under way.
    assert!(asked_before.load(Ordering::SeqCst) < 300);
}
