//! `POST /moment/refresh`.

use serde_json::{Value, json};
use shared::{
    model::ChainId,
    store::chain::{ChainTable, Documents, QUEUE_SHARDS},
};
use tests::{Answer, Sandbox, Stack, document};

fn of(collection: &str, token: &str) -> Value {
    json!({"moment": {"collectionAddress": collection, "tokenId": token}})
}

#[tokio::test]
async fn moments_document_is_queued_once_in_ten_minutes_whoever_asks() {
    let stack = Stack::connect();
    let artist = stack.new_collector().await;
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
    let ask = async |token: &str| Answer::of(stack.post("/moment/refresh").json(&of(&collection, token))).await;
    let queued = async |token| {
        let answer = ask(token).await;
        assert_eq!((answer.status, &answer.body["success"]), (202, &json!(true)));
        answer.body["queued"].clone()
    };
    assert_eq!([queued("1").await, queued("1").await], [json!(true), json!(false)]);
    assert_eq!(queued("2").await, json!(false), "what is in its URI can't change");
    assert_eq!(ask("3").await.expect_error(404).status, 404);

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
    let host = uuid::Uuid::new_v4().simple().to_string();
    let uris: Vec<_> = (0..3).map(|number| format!("https://{host}.example/{number}.json")).collect();
    let collection = stack.release(&artist.key, "Asked for", &uris).await;
    stack
        .wait_until(&format!("/timeline?collection={collection}"), |body| {
            body["moments"].as_array().is_some_and(|all| all.len() == 3)
        })
        .await;
    let sandbox = Sandbox::with_variables(&stack, "refresh-moment", &[("REFRESHES_PER_CLIENT_HOURLY", "2")]).await;
    let mut statuses = Vec::new();
    for token in ["1", "2", "3"] {
        statuses.push(sandbox.post("192.0.2.78", &of(&collection, token)).await.0);
    }
    assert_eq!(statuses, [202, 202, 429]);

    // As if 358 more of that host were asked for within this hour and the next.
    let secrets = shared::store::secret::SecretTable::new(
        &stack.endpoints().sdk_config(&stack.map.dynamodb).await,
        &stack.map.names["SecretTable"],
    );
    let counts = shared::store::secret::RequestCounts::new(secrets);
    let hour = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("a time").as_secs() / 3_600;
    let subject = format!("refresh#{}", Documents::uri_hash(&format!("{host}.example")));
    for window in [hour, hour + 1] {
        counts.count_all(358, &subject, window, (window + 2) * 3_600).await.expect("counted");
    }
    let (status, body) = sandbox.post("198.51.100.78", &of(&collection, "3")).await;
    assert_eq!((status, &body["queued"]), (202, &json!(false)));
}
