//! `GET /transactions`, `GET /transactions/{id}`, and what writes answer while their outcome is open.

use std::{collections::HashMap, fs::File};

use alloy::providers::Provider;
use aws_sdk_dynamodb::{Client, types::AttributeValue};
use local::{lock::lock, queue::queue_unserved};
use serde_json::{Value, json};
use shared::model::Address;
use tests::{Answer, Collector, Sandbox, Stack, empty_tables, eventually};
use tokio::net::TcpListener;

/// Only tests that hold its lock, see [`quiet`], write to this chain, so that a relay of one's own doesn't share its lanes with
/// others.
pub(crate) const QUIET_CHAIN: u64 = 1;

/// Waits until no other test writes to [`QUIET_CHAIN`]; none does while the result is held.
pub(crate) async fn quiet(stack: &Stack) -> File {
    lock(&stack.file.with_file_name("quiet.lock")).await.expect("the quiet chain's lock")
}

async fn transaction(stack: &Stack, key: &str, id: &str) -> Answer {
    Answer::of(stack.get(&format!("/transactions/{id}")).header("x-api-key", key)).await
}

async fn create_collection(stack: &Stack, key: &str, name: &str) -> Answer {
    stack.write("/collections", key, &json!({"name": name, "uri": "ar://listed"}), &[]).await.expect_success()
}

#[tokio::test]
async fn transaction_tells_its_outcome_to_its_artist_alone() {
    let stack = Stack::connect();
    let (Collector { artist, key, .. }, other) = (stack.new_collector().await, stack.new_collector().await);
    let answer = create_collection(&stack, &key, "Told").await;
    let id = answer.header("transaction-id");
    let told = transaction(&stack, &key, id).await.expect_success();
    assert_eq!(
        (&told.body["id"], &told.body["status"], &told.body["chainId"]),
        (&json!(id), &json!("mined"), &json!(8453))
    );
    assert_eq!(told.body["hash"], answer.body["hash"]);
    assert_eq!(told.body["hashes"].as_array().and_then(|hashes| hashes.last()), Some(&answer.body["hash"]));
    assert_eq!(told.body["result"], json!({"contractAddress": answer.body["contractAddress"]}));
    assert!(told.body["block"].is_u64() && told.body["gasUsed"].is_u64() && told.body["reason"].is_null(), "{told:?}");
    assert_eq!(told.header("cache-control"), "no-store");
    let by_token = Answer::of(stack.get(&format!("/transactions/{id}")).bearer_auth(&artist.token)).await;
    assert_eq!(by_token.expect_success().body, told.body);

    transaction(&stack, &other.key, id).await.expect_error(404);
    transaction(&stack, &key, "019a8b7c-5d4e-7f3a-9b2c-1d0e8f7a6b5c").await.expect_error(404);
    transaction(&stack, &key, "first").await.expect_error(400);
    Answer::of(stack.get(&format!("/transactions/{id}"))).await.expect_error(401);
}

#[tokio::test]
async fn transactions_are_listed_newest_first_in_pages() {
    let stack = Stack::connect();
    let Collector { key, .. } = stack.new_collector().await;
    let list = async |query: &str| {
        let request = stack.get(&format!("/transactions{query}")).header("x-api-key", &key);
        let answer = Answer::of(request).await.expect_success();
        let listed = answer.body["transactions"].as_array().expect("a list").iter();
        let listed: Vec<_> = listed.map(|row| row["id"].as_str().expect("an id").to_owned()).collect();
        (listed, answer.header("link").to_owned())
    };
    assert_eq!(list("").await, (Vec::new(), String::new()));
    let mut ids = Vec::new();
    for name in ["One", "Two", "Three"] {
        ids.insert(0, create_collection(&stack, &key, name).await.header("transaction-id").to_owned());
    }
    assert_eq!(list("").await, (ids.clone(), String::new()));
    let (first, link) = list("?limit=2").await;
    assert_eq!(first, ids[..2]);
    let next = link.strip_prefix('<').and_then(|link| link.split_once('>')).expect("a link").0;
    assert_eq!(list(next).await, (ids[2..].to_vec(), String::new()));
    for query in ["?limit=0", "?before=one"] {
        let request = stack.get(&format!("/transactions{query}")).header("x-api-key", &key);
        Answer::of(request).await.expect_error(400);
    }
}

/// Copies what a database knows of an artist and their API keys.
pub(crate) async fn copy_artist(from: &Client, to: &Client, wallet: &str) {
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let row = |table: &'static str, pk: String, sk: &'static str| {
        from.get_item().table_name(table).key("pk", text(&pk)).key("sk", text(sk)).send()
    };
    let owner =
        row("ArtistTable", format!("WALLET#{wallet}"), "ARTIST").await.expect("an answer").item.expect("a wallet");
    let artist = owner["artist_id"].as_s().expect("an id").clone();
    let profile = row("ArtistTable", format!("ARTIST#{artist}"), "PROFILE").await.expect("an answer").item;
    let mut rows: Vec<(&str, HashMap<String, AttributeValue>)> = vec![("ArtistTable", profile.expect("a profile"))];
    let keys = from.query().table_name("SecretTable").key_condition_expression("pk = :pk");
    let keys = keys.expression_attribute_values(":pk", text(&format!("ARTIST#{artist}"))).send().await;
    for key in keys.expect("an answer").items().iter().filter(|row| row.contains_key("hash")) {
        let hash = key["hash"].as_s().expect("a hash");
        let live = row("SecretTable", format!("KEY#{hash}"), "KEY").await.expect("an answer").item;
        rows.extend([("SecretTable", key.clone()), ("SecretTable", live.expect("a key"))]);
    }
    for (table, row) in rows {
        to.put_item().table_name(table).set_item(Some(row)).send().await.expect("a copy");
    }
}

/// A relay that serves [`QUIET_CHAIN`] alone, from an endpoint's tables. They get the lanes' next nonces: without them it
/// would look for each lane's last transaction, which may be in a block whose state the node no longer has.
pub(crate) async fn quiet_relay(stack: &Stack, variables: &[(&str, &str)], dynamodb: &str) -> Sandbox {
    let mut chains: Vec<Value> = serde_json::from_str(&stack.map.names["Chains"]).expect("chains");
    chains.retain(|chain| chain["id"] == QUIET_CHAIN);
    let chains = json!(chains).to_string();
    let relay = Sandbox::with(stack, "relay", &[variables, &[("CHAINS", &chains)]].concat(), dynamodb).await;
    let (rows, chain) =
        (Client::new(&relay.endpoints.sdk_config(dynamodb).await), stack.node_of(&QUIET_CHAIN.to_string()));
    let text = AttributeValue::S;
    let lanes: Vec<Address> =
        stack.map.names["OperatorLanes"].split(',').map(|lane| lane.parse().expect("an address")).collect();
    for lane in &lanes {
        let nonce = chain.get_transaction_count((*lane).into()).await.expect("a nonce");
        let row = rows.put_item().table_name("ArtistTable").item("pk", text(format!("LANE#{QUIET_CHAIN}#{lane}")));
        let row = row.item("sk", text("LANE".to_owned())).item("next_nonce", AttributeValue::N(nonce.to_string()));
        row.send().await.expect("a lane");
    }
    let row = rows.put_item().table_name("ArtistTable").item("pk", text(format!("RELAY#{QUIET_CHAIN}")));
    let addresses = AttributeValue::Ss(lanes.iter().map(ToString::to_string).collect());
    row.item("sk", text("LANES".to_owned())).item("addresses", addresses).send().await.expect("the lanes");
    relay
}

#[tokio::test]
async fn write_that_is_not_mined_in_time_is_202_until_the_relay_has_sent_it() {
    let stack = Stack::connect();
    let _quiet = quiet(&stack).await;
    let Collector { artist, key, .. } = stack.new_collector().await;
    // A queue that nothing reads until this test has it read.
    let database = empty_tables(&stack).await;
    let functions = async |binary| Sandbox::with_database(&stack, binary, &database.endpoint).await;
    let (create, read) = (functions("create-collection").await, functions("read-transaction").await);
    let relay = quiet_relay(&stack, &[], &database.endpoint).await;
    let copy = Client::new(&create.endpoints.sdk_config(&database.endpoint).await);
    copy_artist(&stack.dynamodb().await, &copy, &artist.wallet).await;

    let send = async || {
        let mut event = create.event();
        event["headers"]["x-api-key"] = json!(key);
        event["headers"]["idempotency-key"] = json!("in-a-while");
        event["body"] = json!({"name": "In a While", "uri": "ar://while", "chainId": QUIET_CHAIN}).to_string().into();
        create.invoke(&event).await
    };
    let look = async |id: &str| {
        let mut event = read.event();
        event["headers"] = json!({"x-api-key": key});
        event["pathParameters"]["id"] = json!(id);
        body(&read.invoke(&event).await)
    };
    let first = send().await;
    assert_eq!(first["statusCode"], 202, "{first}");
    let pending = body(&first);
    let id = pending["transactionId"].as_str().expect("an id");
    assert_eq!(pending, json!({"transactionId": id, "status": "queued", "chainId": QUIET_CHAIN}));
    assert_eq!(first["headers"]["transaction-id"], id);
    assert_eq!(first["headers"]["location"], format!("/api/transactions/{id}"));
    assert!(first["headers"]["retry-after"].is_string(), "{first}");
    assert_eq!(look(id).await["status"], "queued");

    relay.invoke(&json!({})).await;
    let told = look(id).await;
    assert_eq!(told["status"], "mined", "{told}");
    let again = send().await;
    assert_eq!((&again["statusCode"], &again["headers"]["idempotent-replayed"]), (&json!(200), &json!("true")));
    let whole = body(&again);
    assert_eq!((&whole["hash"], &whole["contractAddress"]), (&told["hash"], &told["result"]["contractAddress"]));
    assert!(whole["contractAddress"].is_string(), "{whole}");
}

fn body(answer: &Value) -> Value {
    serde_json::from_str(answer["body"].as_str().expect("a body")).expect("JSON")
}

#[tokio::test]
async fn silent_nodes_are_told_before_the_gateway_gives_up() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    // More nodes than can be waited for, each of which accepts connections and says nothing.
    let silent = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let url = format!("http://{}", silent.local_addr().expect("an address"));
    let nodes = json!({"8453": vec![url; 12]}).to_string();
    let stuck = Sandbox::with_variables(&stack, "update-moment-uri", &[("RPC_URLS", &nodes)]).await;
    let mut event = stuck.event();
    event["headers"]["x-api-key"] = json!(writer.key);
    event["body"] = json!({"moment": {"collectionAddress": writer.collection, "tokenId": "1"}, "newUri": "ar://x"})
        .to_string()
        .into();
    let answer = stuck.invoke(&event).await;
    assert!([502, 503].contains(&answer["statusCode"].as_u64().expect("a status")), "{answer}");
    assert!(answer["headers"]["retry-after"].is_string(), "{answer}");
}

#[tokio::test]
async fn budgets_are_named_in_their_refusals() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    for (limit, status, words) in [
        ("artistDaily", 429, "your budget for today's fees"),
        ("newcomersDaily", 503, "budget of today for new artists"),
        ("networkDaily", 429, "New artists of your network"),
    ] {
        let mut spending = json!({"networkDaily": u64::MAX});
        spending[limit] = json!(1);
        let chains = json!([{"id": 8453, "firstBlock": 0, "spending": spending}]).to_string();
        let poor = Sandbox::with_variables(&stack, "update-moment-uri", &[("CHAINS", &chains)]).await;
        let mut event = poor.event();
        event["headers"]["x-api-key"] = json!(writer.key);
        let change = json!({"moment": {"collectionAddress": writer.collection, "tokenId": "1"}, "newUri": "ar://x"});
        event["body"] = change.to_string().into();
        let answer = poor.invoke(&event).await;
        assert_eq!(answer["statusCode"], status, "{answer}");
        let message = body(&answer)["message"].as_str().expect("a message").to_owned();
        assert!(message.contains(words), "{message}");
        let wait: u64 = answer["headers"]["retry-after"].as_str().and_then(|text| text.parse().ok()).expect("seconds");
        assert!((1..=86_400).contains(&wait), "{answer}");
    }
}

#[tokio::test]
async fn queued_write_is_cancelled_by_whoever_asked_for_it_and_never_sent() {
    let stack = Stack::connect();
    let _quiet = quiet(&stack).await;
    let Collector { artist, key, .. } = stack.new_collector().await;
    // A queue that nothing reads until this test has it read.
    let database = empty_tables(&stack).await;
    let functions = async |binary| Sandbox::with_database(&stack, binary, &database.endpoint).await;
    let (create, cancel) = (functions("create-collection").await, functions("cancel-transaction").await);
    let read = functions("read-transaction").await;
    let relay = quiet_relay(&stack, &[], &database.endpoint).await;
    let copy = Client::new(&create.endpoints.sdk_config(&database.endpoint).await);
    copy_artist(&stack.dynamodb().await, &copy, &artist.wallet).await;
    let with = |event: Value, credential: (&str, &str), id: &str| {
        let mut event = event;
        event["headers"] = json!({credential.0: credential.1});
        event["pathParameters"]["id"] = json!(id);
        event
    };
    let queue = format!("QUEUE#{QUIET_CHAIN}#PLAIN");
    let queued = eventually("a queued transaction", async || {
        let rows = copy.query().table_name("ArtistTable").key_condition_expression("pk = :pk");
        let rows = rows.expression_attribute_values(":pk", AttributeValue::S(queue.clone())).send().await;
        rows.expect("an answer").items().first().map(|row| row["transaction_id"].as_s().expect("an id").clone())
    });
    let mut event = create.event();
    event["headers"]["x-api-key"] = json!(key);
    event["headers"]["valid-until"] = json!("1700000000");
    event["body"] = json!({"name": "Taken Back", "uri": "ar://back", "chainId": QUIET_CHAIN}).to_string().into();
    assert_eq!(create.invoke(&event).await["statusCode"], 400);
    let soon = (std::time::UNIX_EPOCH.elapsed().expect("a clock").as_secs() + 600).to_string();
    event["headers"]["valid-until"] = json!(soon);

    let cancelled = async {
        let id = queued.await;
        let told = body(&read.invoke(&with(read.event(), ("x-api-key", &key), &id)).await);
        assert_eq!(told["status"], "queued");
        assert!(told["validUntil"].is_string(), "{told}");
        let answer = cancel.invoke(&with(cancel.event(), ("x-api-key", &key), &id)).await;
        assert_eq!(answer["statusCode"], 200, "{answer}");
        assert_eq!(body(&answer), json!({"transactionId": id, "status": "cancelled"}));
        let again = cancel.invoke(&with(cancel.event(), ("x-api-key", &key), &id)).await;
        assert_eq!(again["statusCode"], 200, "a lost answer is asked for again: {again}");
        id
    };
    // One who waits asks again until it is cancelled.
    let (answer, id) = tokio::join!(create.write(&event), cancelled);

    assert_eq!(answer["statusCode"], 422, "whoever waits for it is told: {answer}");
    relay.invoke(&json!({})).await;
    let told = body(&read.invoke(&with(read.event(), ("x-api-key", &key), &id)).await);
    assert_eq!((&told["status"], &told["hash"]), (&json!("cancelled"), &Value::Null), "{told}");
}

#[tokio::test]
async fn what_was_sent_or_is_anothers_is_not_cancelled() {
    let stack = Stack::connect();
    let (Collector { artist, key, .. }, other) = (stack.new_collector().await, stack.new_collector().await);
    let id = create_collection(&stack, &key, "Kept").await.header("transaction-id").to_owned();
    let cancel = async |name: &str, value: &str, id: &str| {
        Answer::of(stack.delete(&format!("/transactions/{id}")).header(name, value)).await
    };
    let refused = cancel("x-api-key", &key, &id).await.expect_error(409);
    assert_eq!(refused.body["message"], "It is mined already");
    cancel("x-api-key", &other.key, &id).await.expect_error(404);
    let unserved = queue_unserved(&stack.map, &artist.wallet).await.expect("a transaction");
    cancel("x-api-key", &key, &unserved).await.expect_error(403);
    cancel("authorization", &format!("Bearer {}", artist.token), &unserved).await.expect_success();
}
