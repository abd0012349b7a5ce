//! `POST /moment/create-batch`

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use alloy::{
    hex,
    primitives::{Address, U256},
    providers::Provider,
    sol_types::SolError,
};
use serde_json::{Value, json};
use shared::{chain::contracts::native::ContractErrors::TokenIdMismatch, model::ChainId};
use tests::{Answer, RpcProxy, Sandbox, Stack, Writer, unused_address};

const PATH: &str = "/moment/create-batch";

fn body(contract: Value, count: usize) -> Value {
    let token = |n: usize| {
        json!({
            "tokenMetadataURI": format!("ipfs://bafybatch/{n}.json"),
            "salesConfig": {"type": "fixedPrice", "pricePerToken": n.to_string(), "saleStart": 0, "saleEnd": u64::MAX},
        })
    };
    json!({"contract": contract, "tokens": (0..count).map(token).collect::<Vec<_>>()})
}

fn ids(range: std::ops::RangeInclusive<usize>) -> Value {
    range.map(|id| id.to_string()).collect()
}

#[tokio::test]
async fn batch_is_created_in_one_transaction() {
    let stack = Stack::connect();
    let Writer { artist, key, .. } = stack.new_writer().await;
    let new = json!({"name": "A Week", "uri": "ar://week"});
    let first = stack.write(PATH, &key, &body(new, 7), &[]).await.expect_success();
    assert_eq!(first.body["tokenIds"], ids(1..=7));
    let existing = json!({"address": first.body["contractAddress"]});
    let second = stack.write(PATH, &key, &body(existing, 3), &[]).await.expect_success();
    assert_eq!(second.body["tokenIds"], ids(8..=10));
    assert_eq!(second.body["contractAddress"], first.body["contractAddress"]);
    let account: Address = artist.wallet.parse().expect("an address");
    assert!(!stack.chain().get_code_at(account).await.expect("code").is_empty());
}

#[tokio::test]
async fn batch_of_fifty_is_accepted_and_fifty_one_refused() {
    let stack = Stack::connect();
    let Writer { key, .. } = stack.new_writer().await;
    let new = json!({"name": "A Year", "uri": "ar://year"});
    let answer = stack.write(PATH, &key, &body(new.clone(), 50), &[]).await.expect_success();
    assert_eq!(answer.body["tokenIds"], ids(1..=50));
    for (count, field) in [(51, "tokens"), (0, "tokens")] {
        let answer = stack.write_once(PATH, &key, &body(new.clone(), count), &[]).await.expect_error(400);
        assert_eq!(answer.failing_fields(), [field]);
    }
    let mut wrong = body(new, 3);
    wrong["tokens"][0]["tokenMetadataURI"] = json!("x");
    wrong["tokens"][2]["salesConfig"]["pricePerToken"] = json!("x");
    let answer = stack.write_once(PATH, &key, &wrong, &[]).await.expect_error(400);
    assert_eq!(answer.failing_fields(), ["tokens.0.tokenMetadataURI", "tokens.2.salesConfig.pricePerToken"]);
}

#[tokio::test]
async fn batch_too_long_for_a_transaction_is_refused_before_it_is_queued() {
    let stack = Stack::connect();
    let Writer { artist, key, .. } = stack.new_writer().await;
    let mut long = body(json!({"name": "A Book", "uri": "ar://book"}), 50);
    for token in long["tokens"].as_array_mut().expect("tokens") {
        token["tokenMetadataURI"] = json!(format!("ar://{}", "x".repeat(2_000)));
    }
    let answer = stack.write_once(PATH, &key, &long, &[]).await.expect_error(422);
    let message = answer.body["message"].as_str().expect("a message");
    assert!(message.contains("bytes of calldata; one transaction takes at most 100000"), "{message}");
    let listed = Answer::of(stack.get("/transactions").bearer_auth(&artist.token)).await.expect_success();
    assert_eq!(listed.body["transactions"], json!([]));
}

#[tokio::test]
async fn batch_is_tried_five_times_while_other_tokens_come_first() {
    let stack = Stack::connect();
    let Writer { artist, key, collection } = stack.new_writer().await;
    let account: Address = artist.wallet.parse().expect("an address");
    let (account, tries, overtaken) = (json!(account), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counter, most) = (Arc::clone(&tries), Arc::clone(&overtaken));
    let chain = ChainId::DEFAULT.to_string();
    let node = RpcProxy::in_front_of(&stack.map.rpc[&chain], move |call| {
        let is_trial = call["method"] == "eth_call" && call["params"][0]["from"] == account;
        if !is_trial || counter.fetch_add(1, Relaxed) >= most.load(Relaxed) {
            return None;
        }
        let reason = TokenIdMismatch { expected: U256::from(2), actual: U256::from(3) }.abi_encode();
        let data = hex::encode_prefixed(reason);
        Some(json!({"error": {"code": 3, "message": "execution reverted", "data": data}}))
    })
    .await;
    let urls = json!({chain: [node.url]}).to_string();
    let sandbox = Sandbox::with_variables(&stack, "create-moments", &[("RPC_URLS", &urls)]).await;
    let mut event = sandbox.event();
    event["headers"] = json!({"content-type": "application/json", "x-api-key": key});
    // Other tests' calls from the event's address would count for the same client.
    event["requestContext"]["http"]["sourceIp"] = json!(unused_address());
    event["body"] = json!(body(json!({"address": collection}), 2).to_string());

    overtaken.store(usize::MAX, Relaxed);
    let refused = sandbox.invoke(&event).await;
    assert_eq!((&refused["statusCode"], &refused["headers"]["retry-after"]), (&json!(503), &json!("2")), "{refused}");
    assert_eq!(tries.swap(0, Relaxed), 5);
    let listed = Answer::of(stack.get("/transactions").bearer_auth(&artist.token)).await.expect_success();
    assert_eq!(listed.body["transactions"], json!([]));

    overtaken.store(4, Relaxed);
    let made = sandbox.write(&event).await;
    assert_eq!(made["statusCode"], 200, "{made}");
    assert!(tries.load(Relaxed) > 4);
    let made: Value = serde_json::from_str(made["body"].as_str().expect("a body")).expect("JSON");
    assert_eq!(made["tokenIds"], ids(2..=3));
}
