//! `PATCH /moment` with another collection.

use alloy::{
    primitives::{Address, U256},
    signers::local::PrivateKeySigner,
};
use serde_json::{Value, json};
use shared::chain::contracts::native::{Creator1155, FixedPriceMinter};
use tests::{Answer, Collector, Stack};

const ETHER: u64 = 1_000_000_000_000_000_000;

fn sale(price: u64) -> Value {
    json!({"type": "fixedPrice", "pricePerToken": price.to_string(), "saleStart": 0, "saleEnd": u64::MAX.to_string()})
}

fn order(from: Address, to: Address) -> Value {
    json!({"moment": {"collectionAddress": from, "tokenId": "1"}, "newCollectionAddress": to})
}

async fn send(stack: &Stack, key: &str, body: &Value, name: &str) -> Answer {
    let request = stack.patch("/moment").header("x-api-key", key).header("idempotency-key", name);
    Answer::of_write(request.json(body)).await
}

/// A collection with a moment that the index has.
async fn published(stack: &Stack, key: &str, sale: Value, more: Value) -> Address {
    let collection = stack.publish(key, sale, more).await;
    stack.wait_until(&read(collection, "1"), |_| true).await;
    collection
}

/// A collection without moments.
async fn empty(stack: &Stack, key: &str, name: &str) -> Address {
    let body = json!({"name": name, "uri": "ipfs://bafythere/collection.json"});
    let answer = stack.write("/collections", key, &body, &[]).await.expect_success();
    answer.body["contractAddress"].as_str().and_then(|text| text.parse().ok()).expect("an address")
}

fn read(collection: Address, token: &str) -> String {
    format!("/moment?collectionAddress={collection:#x}&tokenId={token}")
}

async fn tokens_in(stack: &Stack, collection: Address) -> U256 {
    let next = Creator1155::new(collection, stack.chain()).nextTokenId().call().await.expect("a number");
    next - U256::ONE
}

fn collect(stack: &Stack, collection: Address, wallet: Address) -> impl Future<Output = Answer> {
    let moment = json!({"collectionAddress": collection, "tokenId": "1"});
    let body = json!({"moment": moment, "amount": 1, "account": wallet});
    async move { stack.post_json("/moment/collect/prepare", &body).await }
}

#[tokio::test]
async fn copy_has_sale_admins_and_what_is_left_and_the_old_one_points_to_it() {
    let stack = Stack::connect();
    let Collector { key, account, .. } = stack.new_collector().await;
    let edition = json!({"maxSupply": 10, "mintToCreatorCount": 3, "royaltyBps": 500});
    let old = published(&stack, &key, sale(1_000), edition).await;
    let friend = PrivateKeySigner::random().address();
    let grant = json!({"moment": {"collectionAddress": old, "tokenId": "1"}, "adminAddress": friend});
    stack.write("/moment/permission", &key, &grant, &[]).await.expect_success();
    let is_admin = |body: &Value| body["admins"].to_string().contains(&format!("{friend:#x}"));
    stack.wait_until(&read(old, "1"), is_admin).await;
    let there = empty(&stack, &key, "There").await;

    let answer = send(&stack, &key, &order(old, there), "tidying").await.expect_success();
    assert_eq!((&answer.body["contractAddress"], &answer.body["tokenId"]), (&json!(there), &json!("1")));
    let copy = Creator1155::new(there, stack.chain());
    let info = copy.getTokenInfo(U256::ONE).call().await.expect("a token");
    assert_eq!((info.uri.as_str(), info.maxSupply), ("ipfs://bafysale/1.json", U256::from(7)));
    for admin in [account, friend] {
        let mask = copy.permissions(U256::ONE, admin).call().await.expect("permissions");
        assert_eq!(mask & U256::from(2), U256::from(2), "{admin}");
    }
    let royalty = copy.getRoyalties(U256::ONE).call().await.expect("a royalty");
    assert_eq!((royalty.royaltyBPS, royalty.royaltyRecipient), (500, account));
    let minter = FixedPriceMinter::new(stack.contract("fixedPriceMinter"), stack.chain());
    let [before, after] = [old, there].map(|collection| minter.sale(collection, U256::ONE));
    let (before, after) = (before.call().await.expect("a sale"), after.call().await.expect("a sale"));
    assert_eq!((after.pricePerToken, after.fundsRecipient, after.saleEnd), (before.pricePerToken, account, u64::MAX));
    assert!(before.saleEnd < u64::MAX, "the old one is still sold");
    let info = Creator1155::new(old, stack.chain()).getTokenInfo(U256::ONE).call().await.expect("a token");
    assert_eq!(info.uri, format!("ipfs://bafysale/1.json#moved=eip155:8453/erc1155:{there:#x}/1"));
    assert_eq!(info.totalMinted, U256::from(3), "tokens stay where they are");

    let shown = stack.wait_until(&read(old, "1"), |body| !body["movedTo"].is_null()).await;
    let moved = &shown["movedTo"];
    assert_eq!((&moved["address"], &moved["token_id"]), (&json!(there), &json!("1")));
    assert_eq!(shown["uri"], "ipfs://bafysale/1.json", "who holds tokens keeps the document");
    let page = shown["page"].as_str().expect("a page");
    let page = stack.http.get(page).send().await.expect("an answer").text().await.expect("a page");
    let link = format!("href=\"{}\"", moved["page"].as_str().expect("a page"));
    assert!(page.contains(&link), "the page doesn't link to the copy: {page}");
    let shown = stack.wait_until(&read(there, "1"), |body| body["sale"].is_object()).await;
    assert_eq!((&shown["movedTo"], &shown["sale"]["pricePerToken"]), (&Value::Null, &json!("1000")));

    let wallet = PrivateKeySigner::random().address();
    stack.set_balance(wallet, ETHER).await;
    let refused = collect(&stack, old, wallet).await.expect_error(422);
    assert!(refused.body["message"].as_str().is_some_and(|words| words.contains("ended")), "{refused:?}");
    let calls = collect(&stack, there, wallet).await.expect_success();
    stack.send_calls(wallet, &calls.body["calls"]).await;

    let again = send(&stack, &key, &order(old, there), "tidying").await.expect_success();
    assert_eq!((again.header("idempotent-replayed"), &again.body), ("true", &answer.body));
    let refused = send(&stack, &key, &order(old, there), "again").await.expect_error(409);
    assert!(
        refused.body["message"].as_str().is_some_and(|words| words.contains(&format!("{there:#x}"))),
        "{refused:?}"
    );
    assert_eq!(tokens_in(&stack, there).await, U256::ONE);
    let id = answer.header("transaction-id").to_owned();
    let told = Answer::of(stack.get(&format!("/transactions/{id}")).header("x-api-key", &key)).await.expect_success();
    assert_eq!((&told.body["status"], &told.body["result"]["tokenId"]), (&json!("mined"), &json!("1")));

    // The copy goes on to a third place, and new metadata of the old one takes the pointer back.
    let third = empty(&stack, &key, "Third").await;
    send(&stack, &key, &order(there, third), "on").await.expect_success();
    let renamed = json!({"moment": {"collectionAddress": old, "tokenId": "1"}, "newUri": "ipfs://bafysale/2.json"});
    stack.write("/registry/metadata/moment", &key, &renamed, &[]).await.expect_success();
    stack.wait_until(&read(old, "1"), |body| body["movedTo"].is_null()).await;
}

#[tokio::test]
async fn what_cannot_be_moved_is_refused_and_nothing_changes() {
    let stack = Stack::connect();
    let (owner, stranger) = (stack.new_collector().await, stack.new_collector().await);
    let old = published(&stack, &owner.key, sale(0), json!({})).await;
    let there = empty(&stack, &owner.key, "There").await;
    let theirs = empty(&stack, &stranger.key, "Theirs").await;
    let refused = async |key: &str, body: &Value, status: u16| {
        let answer = send(&stack, key, body, &uuid::Uuid::new_v4().to_string()).await.expect_error(status);
        answer.body["message"].as_str().expect("a message").to_owned()
    };
    assert!(refused(&stranger.key, &order(old, theirs), 403).await.contains("ADMIN"));
    assert!(refused(&owner.key, &order(old, theirs), 403).await.contains("MINTER"));
    refused(&owner.key, &order(old, old), 400).await;
    refused(&owner.key, &order(old, Address::repeat_byte(9)), 404).await;
    refused(&owner.key, &order(there, old), 404).await;
    // All that is named is on the moment's chain.
    let mut elsewhere = order(old, there);
    elsewhere["moment"]["chainId"] = json!(10);
    refused(&owner.key, &elsewhere, 400).await;
    let key = stack.create_key(&owner.artist, &json!({"scopes": ["publish"]})).await.expect_success();
    refused(key.body["apiKey"].as_str().expect("a key"), &order(old, there), 403).await;
    let sold_out = published(&stack, &owner.key, sale(0), json!({"maxSupply": 2, "mintToCreatorCount": 2})).await;
    assert!(refused(&owner.key, &order(sold_out, there), 409).await.contains("minted"));
    // What a move leaves open would go on being bought.
    let listed = json!([{"account": stranger.account}]);
    stack.set_list(&owner.key, old, listed, json!({})).await.expect_success();
    assert!(refused(&owner.key, &order(old, there), 409).await.contains("sold to a list"));
    assert_eq!(tokens_in(&stack, there).await, U256::ZERO);
    let info = Creator1155::new(old, stack.chain()).getTokenInfo(U256::ONE).call().await.expect("a token");
    assert_eq!(info.uri, "ipfs://bafysale/1.json");
}

#[tokio::test]
async fn moment_that_is_moved_twice_at_once_has_one_copy() {
    let stack = Stack::connect();
    let Collector { key, .. } = stack.new_collector().await;
    let old = published(&stack, &key, sale(0), json!({})).await;
    let [first, second] = [empty(&stack, &key, "First").await, empty(&stack, &key, "Second").await];
    let (one, other) = (order(old, first), order(old, second));
    let answers = tokio::join!(send(&stack, &key, &one, "one"), send(&stack, &key, &other, "other"));
    let mut statuses = [answers.0.status, answers.1.status];
    statuses.sort_unstable();
    assert_eq!(statuses[0], 200, "{answers:?}");
    assert!([409, 422].contains(&statuses[1]), "{answers:?}");
    assert_eq!(tokens_in(&stack, first).await + tokens_in(&stack, second).await, U256::ONE);
}

#[tokio::test]
async fn timed_sale_sells_no_more_after_a_move() {
    let stack = Stack::connect();
    let Collector { key, .. } = stack.new_collector().await;
    let timed = json!({"type": "timed", "pricePerToken": "0", "saleStart": 0, "saleEnd": 0});
    let old = published(&stack, &key, timed, json!({})).await;
    let there = empty(&stack, &key, "Timed There").await;
    send(&stack, &key, &order(old, there), "timed").await.expect_success();
    let shown = stack.wait_until(&read(old, "1"), |body| !body["movedTo"].is_null()).await;
    assert_eq!(shown["sale"], Value::Null);
    stack.wait_until(&read(there, "1"), |body| body["sale"]["type"] == "timed").await;
    let wallet = PrivateKeySigner::random().address();
    stack.set_balance(wallet, ETHER).await;
    collect(&stack, old, wallet).await.expect_error(422);
    collect(&stack, there, wallet).await.expect_success();
}

#[tokio::test]
async fn moments_that_move_to_one_place_at_once_both_get_there() {
    let stack = Stack::connect();
    let Collector { key, .. } = stack.new_collector().await;
    let first = published(&stack, &key, sale(0), json!({})).await;
    let second = published(&stack, &key, sale(0), json!({})).await;
    let there = empty(&stack, &key, "There").await;
    let (one, other) = (order(first, there), order(second, there));
    let (one, other) = tokio::join!(send(&stack, &key, &one, "one"), send(&stack, &key, &other, "other"));
    let mut tokens = [one, other].map(|answer| answer.expect_success().body["tokenId"].clone().to_string());
    tokens.sort();
    assert_eq!(tokens, ["\"1\"", "\"2\""]);
    for old in [first, second] {
        let shown = stack.wait_until(&read(old, "1"), |body| !body["movedTo"].is_null()).await;
        assert!(tokens.contains(&shown["movedTo"]["token_id"].to_string()), "{shown}");
    }
}
