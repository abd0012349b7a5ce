//! `POST /moment/create/prepare`, by wallets that the service knows nothing of.

use alloy::{
    primitives::{Address, U256},
    signers::local::PrivateKeySigner,
};
use serde_json::{Value, json};
use shared::chain::contracts::native::Creator1155;
use tests::{Answer, MINUTE, Sandbox, Stack, unused_address, within_one_window};

const PATH: &str = "/moment/create/prepare";
const ETHER: u64 = 1_000_000_000_000_000_000;

fn body(contract: &Value, account: Address) -> Value {
    let sale = json!({"type": "fixedPrice", "pricePerToken": "1000", "saleStart": 0, "saleEnd": u64::MAX.to_string()});
    let token = json!({"tokenMetadataURI": "ipfs://bafyown/1.json", "salesConfig": sale, "mintToCreatorCount": 1});
    json!({"contract": contract, "token": token, "account": account})
}

/// The newest collection of an artist's wallet, once the index has it with this many moments.
async fn collection_of(stack: &Stack, wallet: Address) -> Address {
    let path = format!("/collections?artist={wallet:#x}");
    let found = stack.wait_until(&path, |body| body["collections"].as_array().is_some_and(|all| !all.is_empty())).await;
    found["collections"][0]["address"].as_str().and_then(|text| text.parse().ok()).expect("an address")
}

#[tokio::test]
async fn wallet_creates_a_collection_and_a_second_moment_in_it() {
    let stack = Stack::connect();
    let wallet = PrivateKeySigner::random().address();
    stack.set_balance(wallet, ETHER).await;
    let new = json!({"name": "By Hand", "uri": "ipfs://bafyown/collection.json"});
    let mut split = body(&new, wallet);
    split["splits"] = json!([
        {"address": wallet, "percentAllocation": 60},
        {"address": PrivateKeySigner::random().address(), "percentAllocation": 40},
    ]);
    let answer = stack.post_json(PATH, &split).await.expect_success();
    let free = json!({"currency": "ETH", "amount": "0", "decimalAmount": "0"});
    assert_eq!((&answer.body["cost"], &answer.body["simulated"]), (&free, &json!(true)));
    assert_eq!(answer.body["calls"].as_array().map(Vec::len), Some(2), "the split comes first: {answer:?}");
    stack.send_calls(wallet, &answer.body["calls"]).await;
    let collection = collection_of(&stack, wallet).await;
    let answer = stack.post_json(PATH, &split).await.expect_success();
    assert_eq!(answer.body["calls"].as_array().map(Vec::len), Some(1), "the split is there: {answer:?}");

    let second = body(&json!({"address": collection}), wallet);
    let prepared = stack.post_json(PATH, &second).await.expect_success();
    stack.send_calls(wallet, &prepared.body["calls"]).await;
    let path = format!("/moment?collectionAddress={collection:#x}&tokenId=2");
    let shown = stack.wait_until(&path, |_| true).await;
    assert_eq!(shown["creator"]["address"], json!(wallet));
    assert_eq!((&shown["sale"]["pricePerToken"], &shown["supply"]["minted"]), (&json!("1000"), &json!("1")));
    // It was made for the token that was next.
    let contract = Creator1155::new(collection, stack.chain());
    let stale = stack.post_json(PATH, &second).await.expect_success();
    assert_ne!(stale.body["calls"], prepared.body["calls"]);
    assert_eq!(contract.nextTokenId().call().await.expect("a number"), U256::from(3));
}

#[tokio::test]
async fn creation_that_the_chain_would_refuse_is_refused_and_a_client_asks_only_so_often() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let stranger = PrivateKeySigner::random().address();
    let refused = async |body: &Value, status: u16| stack.post_json(PATH, body).await.expect_error(status);
    let path = format!("/collections/eip155:8453/erc1155:{:#x}", writer.collection);
    stack.wait_until(&path, |_| true).await;
    let answer = refused(&body(&json!({"address": writer.collection}), stranger), 403).await;
    assert!(answer.body["message"].as_str().is_some_and(|words| words.contains("MINTER")), "{answer:?}");
    refused(&body(&json!({"address": Address::repeat_byte(7)}), stranger), 404).await;
    let answer = refused(&json!({"token": {"salesConfig": {}}, "account": "me"}), 400).await;
    let fields = answer.failing_fields();
    assert_eq!(fields, ["contract", "token.tokenMetadataURI", "account"], "{answer:?}");
    let mut wrong = body(&json!({"name": "x", "uri": "ar://x"}), stranger);
    wrong["token"]["salesConfig"]["saleEnd"] = json!("1");
    assert_eq!(refused(&wrong, 400).await.failing_fields(), ["token.salesConfig.saleEnd"]);
    let listed: Answer = Answer::of(stack.get(&format!("/collections?artist={stranger:#x}"))).await;
    assert_eq!(listed.body["collections"], json!([]), "something was made");

    let sandbox = Sandbox::with_variables(&stack, "prepare-moment", &[("WALLET_READS_PER_CLIENT_MINUTELY", "1")]).await;
    let body = body(&json!({"name": "By Hand", "uri": "ar://x"}), stranger);
    let ask = async |client: &str| sandbox.post(client, &body).await.0;
    let statuses = within_one_window(MINUTE, async || {
        let client = unused_address();
        [ask(&client).await, ask(&client).await, ask(&unused_address()).await]
    })
    .await;
    assert_eq!(statuses, [200, 429, 200]);
}
