//! `POST` and `GET /moment/allow-list`, and collecting from sales to lists.

use alloy::{
    primitives::{Address, B256, U256, keccak256},
    providers::Provider,
    rpc::types::TransactionRequest,
    signers::local::PrivateKeySigner,
    sol_types::{SolCall, SolValue},
};
use serde_json::{Value, json};
use shared::chain::contracts::native::{Creator1155, MerkleMinter};
use tests::{Answer, Collector, Stack};

const COLLECT: &str = "/moment/collect";
const PREPARE: &str = "/moment/collect/prepare";
/// The protocol's mint fee per token, in wei.
const FEE: u64 = 111_000_000_000_000;
const ETHER: u64 = 1_000_000_000_000_000_000;

fn fixed(price: u64, start: u64) -> Value {
    json!({"type": "fixedPrice", "pricePerToken": price.to_string(), "saleStart": start, "saleEnd": u64::MAX.to_string()})
}

fn order(collection: Address, amount: u64) -> Value {
    json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "amount": amount})
}

fn order_of(wallet: Address, collection: Address, amount: u64) -> Value {
    let mut order = order(collection, amount);
    order["account"] = json!(wallet);
    order
}

fn message(answer: &Answer) -> &str {
    answer.body["message"].as_str().expect("a message")
}

/// A moment whose sale to everybody starts in a long time, and its artist.
async fn to_come(stack: &Stack) -> (Collector, Address) {
    let artist = stack.new_collector().await;
    let collection = stack.publish(&artist.key, fixed(5_000, 4_000_000_000), json!({})).await;
    (artist, collection)
}

async fn rich(stack: &Stack) -> Collector {
    let collector = stack.new_collector().await;
    stack.set_balance(collector.account, ETHER).await;
    collector
}

async fn rich_wallet(stack: &Stack) -> Address {
    let wallet = PrivateKeySigner::random().address();
    stack.set_balance(wallet, ETHER).await;
    wallet
}

async fn list_on_chain(stack: &Stack, collection: Address) -> MerkleMinter::MerkleSaleSettings {
    let minter = MerkleMinter::new(stack.contract("merkleMinter"), stack.chain());
    minter.sale(collection, U256::ONE).call().await.expect("a sale")
}

#[tokio::test]
async fn accounts_on_the_list_collect_at_their_price_and_others_are_told_why_not() {
    let stack = Stack::connect();
    let (artist, collection) = to_come(&stack).await;
    let (listed, other) = (rich(&stack).await, rich(&stack).await);
    let (wallet, stranger) = (rich_wallet(&stack).await, rich_wallet(&stack).await);
    let entries = json!([
        {"account": listed.account, "maxAmount": 2, "price": "1000"},
        {"account": wallet},
        {"account": Address::repeat_byte(0x77), "maxAmount": 0},
    ]);
    let set = stack.set_list(&artist.key, collection, entries, json!({"price": "3000"})).await.expect_success();
    assert_eq!(set.body["chainId"], 8453);
    let settings = list_on_chain(&stack, collection).await;
    assert_eq!(settings.fundsRecipient, artist.account, "that of the sale to everybody");

    // Wrong before anything is paid: not on the list, too many, a comment, dearer than one would pay.
    let answer = stack.write_once(COLLECT, &other.key, &order(collection, 1), &[]).await.expect_error(422);
    assert!(message(&answer).contains("sold to a list of accounts until") && message(&answer).contains("is not on it"));
    let answer = stack.write_once(COLLECT, &listed.key, &order(collection, 3), &[]).await.expect_error(422);
    assert!(message(&answer).contains("2 of this moment at most"), "{answer:?}");
    let mut wrong = order(collection, 1);
    wrong["comment"] = json!("Mine");
    let answer = stack.write_once(COLLECT, &listed.key, &wrong, &[]).await.expect_error(422);
    assert!(message(&answer).contains("takes no comment"), "{answer:?}");
    let mut dear = order(collection, 1);
    dear["maxPrice"] = json!("1000");
    let answer = stack.write_once(COLLECT, &listed.key, &dear, &[]).await.expect_error(409);
    assert_eq!(answer.body["price"], json!((FEE + 1_000).to_string()));

    stack.write(COLLECT, &listed.key, &order(collection, 2), &[]).await.expect_success();
    assert_eq!(stack.tokens_of(listed.account, collection).await, U256::from(2));
    let left = stack.chain().get_balance(listed.account).await.expect("a balance");
    assert_eq!(left, U256::from(ETHER - 2 * (FEE + 1_000)));
    let answer = stack.write_once(COLLECT, &listed.key, &order(collection, 1), &[]).await.expect_error(422);
    assert!(message(&answer).contains("has had 2"), "{answer:?}");

    // The same for any wallet; the index has to know the moment.
    let list = stack.indexed_list(collection, Value::is_object).await;
    assert_eq!(list["root"], json!(settings.merkleRoot));
    assert_eq!(list["saleEnd"], json!(settings.presaleEnd.to_string()));
    let answer = stack.post_json(PREPARE, &order_of(stranger, collection, 1)).await.expect_error(422);
    assert!(message(&answer).contains(&format!("{stranger:#x} is not on it")), "{answer:?}");
    stack.post_json(PREPARE, &order_of(wallet, collection, 2)).await.expect_error(422);
    let answer = stack.post_json(PREPARE, &order_of(wallet, collection, 1)).await.expect_success();
    assert_eq!(answer.body["cost"]["amount"], json!((FEE + 3_000).to_string()));
    stack.send_calls(wallet, &answer.body["calls"]).await;
    assert_eq!(stack.tokens_of(wallet, collection).await, U256::ONE);

    // The index says what was paid, as of any other sale.
    let path = format!("/payments?artist={:#x}", artist.account);
    let paid = |body: &Value| -> Vec<(Value, Value)> {
        let payments = body["payments"].as_array().expect("payments").iter();
        payments.map(|payment| (payment["buyer"]["address"].clone(), payment["amount"].clone())).collect()
    };
    let payments = paid(&stack.wait_until(&path, |body| paid(body).len() == 2).await);
    let of = |buyer: Address, amount: &str| (json!(format!("{buyer:#x}")), json!(amount));
    assert!(payments.contains(&of(listed.account, "0.000000000000002")), "{payments:?}");
    assert!(payments.contains(&of(wallet, "0.000000000000003")), "{payments:?}");
    let moment = stack.wait_until(&format!("/moment?collectionAddress={collection:#x}&tokenId=1"), |_| true).await;
    assert_eq!((&moment["sale"]["type"], &moment["supply"]["minted"]), (&json!("fixedPrice"), &json!("3")));
}

#[tokio::test]
async fn whoever_is_not_on_the_list_or_had_all_of_it_collects_as_everybody_does() {
    let stack = Stack::connect();
    let artist = stack.new_collector().await;
    let collection = stack.publish(&artist.key, fixed(5_000, 0), json!({})).await;
    let (listed, other) = (rich(&stack).await, rich(&stack).await);
    stack.set_list(&artist.key, collection, json!([{"account": listed.account}]), json!({})).await.expect_success();
    for (collector, cost) in [(&other, FEE + 5_000), (&listed, FEE), (&listed, FEE + 5_000)] {
        let before = stack.chain().get_balance(collector.account).await.expect("a balance");
        let key = uuid::Uuid::new_v4().to_string();
        let headers = [("idempotency-key", key.as_str())];
        stack.write(COLLECT, &collector.key, &order(collection, 1), &headers).await.expect_success();
        let after = stack.chain().get_balance(collector.account).await.expect("a balance");
        assert_eq!(before - after, U256::from(cost));
    }
}

#[tokio::test]
async fn nobody_collects_before_the_start_and_everybody_is_told_the_time() {
    let stack = Stack::connect();
    let (artist, collection) = to_come(&stack).await;
    let listed = rich(&stack).await;
    let starts = stack.chain().get_block(alloy::eips::BlockId::latest()).await.expect("a block").expect("a block");
    let start = starts.header.timestamp + 86_400;
    let entries = json!([{"account": listed.account}]);
    stack.set_list(&artist.key, collection, entries, json!({"saleStart": start})).await.expect_success();
    let when = shared::clock::iso_8601(start).expect("a time");
    let answer = stack.write_once(COLLECT, &listed.key, &order(collection, 1), &[]).await.expect_error(422);
    assert!(message(&answer).contains(&format!("it starts at {when}")), "{answer:?}");
    stack.indexed_list(collection, Value::is_object).await;
    let wallet = rich_wallet(&stack).await;
    let answer = stack.post_json(PREPARE, &order_of(wallet, collection, 1)).await.expect_error(422);
    assert!(message(&answer).contains(&when), "{answer:?}");
}

#[tokio::test]
async fn a_list_is_replaced_and_ended_by_who_may_change_the_sale_alone() {
    let stack = Stack::connect();
    let (artist, collection) = to_come(&stack).await;
    let (first, second) = (rich(&stack).await, rich(&stack).await);
    let only = |collector: &Collector| json!([{"account": collector.account, "maxAmount": 5}]);
    let answer = stack.set_list(&first.key, collection, only(&first), json!({})).await.expect_error(403);
    assert!(message(&answer).contains("SALES"), "{answer:?}");
    assert!(list_on_chain(&stack, collection).await.merkleRoot.is_zero());
    stack.set_list(&artist.key, collection, only(&first), json!({})).await.expect_success();
    stack.write(COLLECT, &first.key, &order(collection, 1), &[]).await.expect_success();
    let old = list_on_chain(&stack, collection).await.merkleRoot;
    stack.indexed_list(collection, |list| list["root"] == json!(old)).await;
    let proof = stack.place_on_list(collection, first.account).await.expect_success().body;

    stack.set_list(&artist.key, collection, only(&second), json!({})).await.expect_success();
    stack.write_once(COLLECT, &first.key, &order(collection, 2), &[]).await.expect_error(422);
    stack.write(COLLECT, &second.key, &order(collection, 1), &[]).await.expect_success();
    let new = list_on_chain(&stack, collection).await.merkleRoot;
    stack.indexed_list(collection, |list| list["root"] == json!(new)).await;
    stack.place_on_list(collection, first.account).await.expect_error(404);
    stack.place_on_list(collection, second.account).await.expect_success();
    assert!(mints(&stack, collection, first.account, &proof).await.is_err(), "an old proof");

    stack.set_list(&artist.key, collection, json!([]), json!({})).await.expect_success();
    stack.indexed_list(collection, Value::is_null).await;
    let answer = stack.write_once(COLLECT, &second.key, &order(collection, 2), &[]).await.expect_error(422);
    assert!(message(&answer).contains("starts at 2096"), "the sale to everybody: {answer:?}");
    stack.place_on_list(collection, second.account).await.expect_error(404);
}

/// Whether an account could collect with a proof as it is served.
async fn mints(stack: &Stack, collection: Address, account: Address, served: &Value) -> Result<(), String> {
    let number = |name: &str| -> U256 { served[name].as_str().expect(name).parse().expect("a number") };
    let proof: Vec<B256> = serde_json::from_value(served["proof"].clone()).expect("hashes");
    let mint = Creator1155::mintCall {
        minter: stack.contract("merkleMinter"),
        tokenId: U256::ONE,
        quantity: U256::ONE,
        rewardsRecipients: Vec::new(),
        minterArguments: (account, number("maxAmount"), number("price"), proof).abi_encode_params().into(),
    };
    let value = U256::from(FEE) + number("price");
    let call = TransactionRequest::default().from(account).to(collection).value(value).input(mint.abi_encode().into());
    stack.chain().call(call).await.map(drop).map_err(|error| error.to_string())
}

#[tokio::test]
async fn ten_thousand_accounts_are_proved_to_the_contract_and_altered_proofs_are_not() {
    let stack = Stack::connect();
    let (artist, collection) = to_come(&stack).await;
    let account = |number: u64| Address::from_word(keccak256(number.to_be_bytes()));
    let entries: Vec<Value> = (0..10_000).map(|number| json!({"account": account(number)})).collect();
    let terms = json!({"price": "700", "maxAmount": 2});
    stack.set_list(&artist.key, collection, json!(entries), terms).await.expect_success();
    // On a busy machine it may be mined after it is answered.
    stack.indexed_list(collection, Value::is_object).await;
    let root = list_on_chain(&stack, collection).await.merkleRoot;
    for number in (0..10_000).step_by(997) {
        let who = account(number);
        stack.set_balance(who, ETHER).await;
        let served = stack.place_on_list(collection, who).await.expect_success().body;
        assert_eq!((&served["maxAmount"], &served["price"]), (&json!("2"), &json!("700")));
        assert_eq!(served["allowList"]["root"], json!(root));
        mints(&stack, collection, who, &served).await.expect("a proof that holds");
        let with = |field: &str, value: Value| {
            let mut altered = served.clone();
            altered[field] = value;
            altered
        };
        let mut cut = served["proof"].as_array().expect("hashes").clone();
        cut.pop();
        for altered in [with("price", json!("0")), with("maxAmount", json!("0")), with("proof", json!(cut))] {
            let refused = mints(&stack, collection, who, &altered).await.expect_err("an altered proof");
            assert!(refused.contains("revert"), "{refused}");
        }
        let thief = rich_wallet(&stack).await;
        assert!(mints(&stack, collection, thief, &served).await.is_err(), "somebody else's proof");
    }
    stack.place_on_list(collection, account(10_000)).await.expect_error(404);

    let more: Vec<Value> = (0..10_001).map(|number| json!({"account": account(number)})).collect();
    let answer = stack.set_list(&artist.key, collection, json!(more), json!({})).await.expect_error(400);
    assert_eq!(answer.failing_fields(), ["entries"]);
}

#[tokio::test]
async fn an_account_is_listed_once_by_address_or_username() {
    let stack = Stack::connect();
    let (artist, collection) = to_come(&stack).await;
    let named = rich(&stack).await;
    let name = format!("listed.{}", &uuid::Uuid::new_v4().simple().to_string()[..8]);
    let change = stack.patch("/artists/me").bearer_auth(&named.artist.token).json(&json!({"username": name}));
    Answer::of(change).await.expect_success();
    for (entries, more, fields) in [
        (
            json!([{"account": name}, {"account": Address::repeat_byte(1)}, {"account": named.account}]),
            json!({}),
            "entries.2.account",
        ),
        (json!([{"account": "nobody.of.that.name"}]), json!({}), "entries.0.account"),
        (json!([{"account": Address::ZERO}]), json!({}), "entries.0.account"),
        (json!([{"account": name, "price": U256::MAX.to_string()}]), json!({}), "entries.0.price"),
        (json!([{"account": name}]), json!({"saleEnd": 1}), "saleEnd"),
        (json!([{"account": name}]), json!({"saleEnd": u64::MAX.to_string()}), "saleEnd"),
        (json!([{"account": name}]), json!({"saleStart": 4_000_000_000_u64}), "saleStart"),
    ] {
        let answer = stack.set_list(&artist.key, collection, entries, more).await.expect_error(400);
        assert_eq!(answer.failing_fields(), [fields], "{answer:?}");
    }
    stack.set_list(&artist.key, collection, json!([{"account": name}]), json!({})).await.expect_success();
    stack.write(COLLECT, &named.key, &order(collection, 1), &[]).await.expect_success();
}

#[tokio::test]
async fn a_list_that_was_made_elsewhere_is_shown_and_its_proofs_are_not_known() {
    let stack = Stack::connect();
    let (artist, collection) = to_come(&stack).await;
    let collector = rich(&stack).await;
    stack.set_list(&artist.key, collection, json!([{"account": collector.account}]), json!({})).await.expect_success();
    // The artist's account, by whatever program.
    let root = B256::repeat_byte(0x5e);
    let settings = MerkleMinter::MerkleSaleSettings {
        presaleStart: 0,
        presaleEnd: 4_000_000_000,
        fundsRecipient: artist.account,
        merkleRoot: root,
    };
    let set = MerkleMinter::setSaleCall { tokenId: U256::ONE, merkleSaleSettings: settings };
    let minter = stack.contract("merkleMinter");
    let call = Creator1155::callSaleCall { tokenId: U256::ONE, salesConfig: minter, data: set.abi_encode().into() };
    let call =
        json!([{"to": collection, "data": format!("0x{}", alloy::hex::encode(call.abi_encode())), "value": "0x0"}]);
    stack.set_balance(artist.account, ETHER).await;
    stack.send_calls(artist.account, &call).await;
    let list = stack.indexed_list(collection, |list| list["root"] == json!(root)).await;
    assert_eq!(list["saleEnd"], json!("4000000000"));
    stack.place_on_list(collection, collector.account).await.expect_error(404);
    let answer = stack.write_once(COLLECT, &collector.key, &order(collection, 1), &[]).await.expect_error(422);
    assert!(message(&answer).contains("made elsewhere"), "{answer:?}");
}
