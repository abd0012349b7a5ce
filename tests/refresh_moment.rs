//! `POST /moment/refresh`.

use std::time::Duration;

use serde_json::{Value, json};
use shared::{
    model::ChainId,
    store::chain::{ChainTable, Documents, NamedDocument, QUEUE_SHARDS},
};
use tests::{Answer, HOUR, Sandbox, Stack, document, eventually, unused_address, window_now, within_one_window};

fn of(collection: &str, token: &str) -> Value {
    json!({"moment": {"collectionAddress": collection, "tokenId": token}})
}

/// A document is queued once in each.
const TEN_MINUTES: Duration = Duration::from_secs(10 * 60);

#[tokio::test]
async fn moments_document_is_queued_once_in_ten_minutes_whoever_asks() {
    let stack = Stack::connect();
    let artist = stack.new_collector().await;
    let ask = async |collection: &str, token: &str| {
        Answer::of(stack.post("/moment/refresh").json(&of(collection, token))).await
    };
    let queued = async |collection: &str, token: &str| {
        let answer = ask(collection, token).await;
        assert_eq!((answer.status, &answer.body["success"]), (202, &json!(true)));
        answer.body["queued"].clone()
    };
    let (unread, collection, twice) = within_one_window(TEN_MINUTES, async || {
        let unread = format!("https://{}.example/1.json", uuid::Uuid::new_v4().simple());
        let uris = [unread.clone(), document("kept", "image/png")];
        let collection = stack.release(&artist.key, "Refreshed", &uris).await;
        stack
            .wait_until(&format!("/timeline?collection={collection}"), |body| {
                body["moments"].as_array().is_some_and(|all| all.len() == 2)
            })
            .await;
        let path = format!("/moment?collectionAddress={collection}&tokenId=2");
        stack.wait_until(&path, |moment| !moment["metadata"].is_null()).await;
        let twice = [queued(&collection, "1").await, queued(&collection, "1").await];
        (unread, collection, twice)
    })
    .await;
    assert_eq!(twice, [json!(true), json!(false)]);
    assert_eq!(queued(&collection, "2").await, json!(false), "what is in its URI can't change");
    assert_eq!(ask(&collection, "3").await.expect_error(404).status, 404);

    let aws = stack.endpoints().sdk_config(&stack.map.dynamodb).await;
    let documents = Documents::new(ChainTable::new(&aws, &stack.map.names["ChainTable"]));
    let mut again = Vec::new();
    for shard in 0..QUEUE_SHARDS {
        let due = documents.due(shard, u64::from(u32::MAX), 1_000).await.expect("a queue");
        again.extend(due.into_iter().filter(|due| due.uri == unread && due.since.is_some()));
    }
    assert_eq!((again.len(), again[0].chain), (1, ChainId::DEFAULT));
}

#[tokio::test]
async fn client_and_host_have_limits_of_their_own() {
    let stack = Stack::connect();
    let artist = stack.new_collector().await;
    let sandbox = Sandbox::with_variables(&stack, "refresh-moment", &[("REFRESHES_PER_CLIENT_HOURLY", "2")]).await;
    let secrets = shared::store::secret::SecretTable::new(
        &stack.endpoints().sdk_config(&stack.map.dynamodb).await,
        &stack.map.names["SecretTable"],
    );
    let counts = shared::store::secret::RequestCounts::new(secrets);
    let (statuses, (status, body)) = within_one_window(HOUR, async || {
        let host = format!("{}.example", uuid::Uuid::new_v4().simple());
        let uris: Vec<_> = (0..3).map(|number| format!("https://{host}/{number}.json")).collect();
        let collection = stack.release(&artist.key, "Asked for", &uris).await;
        stack
            .wait_until(&format!("/timeline?collection={collection}"), |body| {
                body["moments"].as_array().is_some_and(|all| all.len() == 3)
            })
            .await;
        let (client, mut statuses) = (unused_address(), Vec::new());
        for token in ["1", "2", "3"] {
            statuses.push(sandbox.post(&client, &of(&collection, token)).await.0);
        }

        // As if 358 more of that host were asked for within this hour.
        let (subject, hour) = (format!("refresh#{}", Documents::uri_hash(&host)), window_now(HOUR));
        counts.count_all(358, &subject, hour, (hour + 2) * HOUR.as_secs()).await.expect("counted");
        (statuses, sandbox.post(&unused_address(), &of(&collection, "3")).await)
    })
    .await;
    assert_eq!(statuses, [202, 202, 429]);
    assert_eq!((status, &body["queued"]), (202, &json!(false)));
}

#[tokio::test]
async fn document_that_is_as_before_leaves_the_queue() {
    let stack = Stack::connect();
    let artist = stack.new_collector().await;
    let uri = document("as before", "image/png");
    let collection = stack.release(&artist.key, "Read again", std::slice::from_ref(&uri)).await;
    let path = format!("/moment?collectionAddress={collection}&tokenId=1");
    let before = stack.wait_until(&path, |moment| !moment["metadata"].is_null()).await;
    let aws = stack.endpoints().sdk_config(&stack.map.dynamodb).await;
    let documents = Documents::new(ChainTable::new(&aws, &stack.map.names["ChainTable"]));
    let (collection, at) = (collection.parse().expect("an address"), window_now(Duration::from_secs(1)));
    // As for an https document, of which there is none in the stack.
    documents.read_again(ChainId::DEFAULT, [NamedDocument { uri: &uri, collection, at }]).await.expect("queued");
    eventually("it is read again", async || {
        for shard in 0..QUEUE_SHARDS {
            let due = documents.due(shard, u64::from(u32::MAX), 1_000).await.expect("a queue");
            if due.iter().any(|due| due.uri == uri) {
                return None;
            }
        }
        Some(())
    })
    .await;
    assert_eq!(stack.wait_until(&path, |_| true).await["metadata"], before["metadata"]);
}
