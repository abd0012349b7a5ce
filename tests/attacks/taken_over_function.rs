//! Somebody has taken over a function that queues writes: they queue what no endpoint would.

use alloy::{
    primitives::{Address, U256},
    providers::Provider,
    signers::local::PrivateKeySigner,
};
use aws_sdk_dynamodb::types::AttributeValue;
use local::queue::queue_calls;
use serde_json::{Value, json};
use shared::{
    chain::contracts::native::{Creator1155, Erc20, Erc20Minter},
    model::{Call, ChainId, WriteKind},
};
use tests::{Answer, Collector, Stack, eventually, personal_sign};

const CHAIN: ChainId = ChainId(8453);
const GAS: u64 = 100_000;

/// The outcome of calls that are queued past all endpoints.
async fn outcome(stack: &Stack, victim: &Collector, kind: WriteKind, calls: Vec<Call>) -> Value {
    let account = format!("{:#x}", victim.account);
    let id = queue_calls(&stack.map, &account, CHAIN, kind, calls, GAS).await.expect("a transaction");
    let path = format!("/transactions/{id}");
    eventually(format!("{id} has an outcome"), async || {
        let answer = Answer::of(stack.get(&path).header("x-api-key", &victim.key)).await.expect_success();
        let is_over = ["mined", "reverted", "failed"].iter().any(|status| answer.body["status"] == *status);
        is_over.then_some(answer.body)
    })
    .await
}

#[tokio::test]
async fn queued_payment_to_an_account_that_is_not_the_artists_is_never_signed() {
    let stack = Stack::connect();
    let (victim, other) = (stack.new_collector().await, stack.new_collector().await);
    stack.set_balance(victim.account, 1_000_000).await;
    stack.give_usdc(victim.account, 1_000_000).await;
    let [stranger, added, anothers, own, wallet] = std::array::from_fn(|_| PrivateKeySigner::random());
    stack.add_payout_address(&victim.artist, added.address()).await.expect_success();
    stack.add_old_payout_address(&other.artist, anothers.address()).await;
    stack.add_old_payout_address(&victim.artist, own.address()).await;
    stack.connect_old_wallet(&victim.artist, &wallet).await;
    let usdc = stack.contract("usdc");
    let in_wei = |to| Call { target: to, value: U256::from(1_000), data: Default::default() };
    let in_usdc = |to| {
        let transfer = Erc20::transferCall { to, amount: U256::from(1_000) };
        Call { target: usdc, value: U256::ZERO, data: alloy::sol_types::SolCall::abi_encode(&transfer).into() }
    };

    for to in [&stranger, &added, &anothers].map(PrivateKeySigner::address) {
        for calls in [vec![in_wei(to)], vec![in_usdc(to)], vec![in_wei(own.address()), in_wei(to)]] {
            let refused = outcome(&stack, &victim, WriteKind::Payment, calls.clone()).await;
            assert_eq!(
                (&refused["status"], &refused["hash"]),
                (&"failed".into(), &Value::Null),
                "{calls:?}: {refused}"
            );
        }
    }
    for to in [&own, &wallet].map(PrivateKeySigner::address) {
        for calls in [vec![in_wei(to)], vec![in_usdc(to)]] {
            let paid = outcome(&stack, &victim, WriteKind::Payment, calls.clone()).await;
            assert_eq!(paid["status"], "mined", "{calls:?}: {paid}");
        }
        assert_eq!(stack.usdc_of(to).await, U256::from(1_000));
    }
    let left = stack.chain().get_balance(victim.account).await.expect("a balance");
    assert_eq!((left, stack.usdc_of(victim.account).await), (U256::from(998_000), U256::from(998_000)));
}

#[tokio::test]
async fn wallet_whose_row_alone_names_an_artist_signs_nobody_in_and_is_paid_nothing() {
    let stack = Stack::connect();
    let (victim, thief) = (stack.new_collector().await, stack.new_artist().await);
    stack.set_balance(victim.account, 1_000).await;
    let wallet = PrivateKeySigner::random();
    stack.connect_old_wallet(&thief, &wallet).await;
    let (row, id) = (format!("WALLET#{:#x}", wallet.address()), stack.artist_id(&victim.artist));
    stack.set("ArtistTable", &row, "ARTIST", "artist_id", AttributeValue::S(id)).await;

    let message = stack.sign_in_message(wallet.address(), CHAIN.0).await;
    let proof = json!({"message": message, "signature": personal_sign(&wallet, &message)});
    Answer::of(stack.post("/oauth/wallet").json(&proof)).await.expect_error(403);
    let order = json!({"to": wallet.address(), "amount": "400", "unit": "wei"});
    stack.withdraw(&victim.artist, &order).await.expect_error(403);
    let payment = Call { target: wallet.address(), value: U256::from(400), data: Default::default() };
    let refused = outcome(&stack, &victim, WriteKind::Payment, vec![payment]).await;
    assert_eq!((&refused["status"], &refused["hash"]), (&"failed".into(), &Value::Null), "{refused}");
}

#[tokio::test]
async fn calls_to_a_collection_that_no_known_factory_made_are_never_signed() {
    let stack = Stack::connect();
    let victim = stack.new_collector().await;
    // It has a collection's very code, and its creator is the victim, too.
    let look_alike = stack.contract("creator1155Implementation");
    let genuine = stack.release(&victim.key, "Genuine", &["ar://genuine".to_owned()]).await;
    let genuine = genuine.parse().expect("an address");
    stack.set_balance(victim.account, 1_000_000).await;
    let rename = |collection, uri: &str| {
        Call::new(collection, &Creator1155::updateTokenURICall { tokenId: U256::ONE, newURI: uri.to_owned() })
    };
    let mint = Erc20Minter::mintCall {
        mintTo: victim.account,
        quantity: U256::ONE,
        tokenAddress: look_alike,
        tokenId: U256::ONE,
        totalValue: U256::ONE,
        currency: stack.contract("usdc"),
        mintReferral: Address::ZERO,
        comment: String::new(),
    };
    for (kind, calls) in [
        (WriteKind::Plain, vec![rename(look_alike, "ar://x")]),
        (WriteKind::Plain, vec![rename(genuine, "ar://x"), rename(look_alike, "ar://x")]),
        (WriteKind::Payment, vec![Call::new(stack.contract("erc20Minter"), &mint)]),
    ] {
        let refused = outcome(&stack, &victim, kind, calls.clone()).await;
        assert_eq!(
            (&refused["status"], &refused["hash"]),
            (&"failed".into(), &Value::Null),
            "{kind} {calls:?}: {refused}"
        );
        assert!(refused["reason"].as_str().is_some_and(|reason| reason.contains("policy")), "{calls:?}: {refused}");
    }
    let renamed = outcome(&stack, &victim, WriteKind::Plain, vec![rename(genuine, "ar://renamed")]).await;
    assert_eq!(renamed["status"], "mined", "{renamed}");
}

#[tokio::test]
async fn what_is_queued_as_another_kind_is_never_signed() {
    let stack = Stack::connect();
    let victim = stack.new_collector().await;
    let collection = stack.release(&victim.key, "Kinds", &["ar://kinds".to_owned()]).await;
    stack.set_balance(victim.account, 1_000_000).await;
    let [own, stranger] = std::array::from_fn(|_| PrivateKeySigner::random().address());
    stack.add_old_payout_address(&victim.artist, own).await;
    let collection = collection.parse().expect("an address");
    let give = Creator1155::addPermissionCall { tokenId: U256::ZERO, user: stranger, permissionBits: U256::from(2) };
    let grant = Call::new(collection, &give);
    let rename = Creator1155::updateTokenURICall { tokenId: U256::ONE, newURI: "ar://renamed".to_owned() };
    let plain = Call::new(collection, &rename);
    let payment = Call { target: own, value: U256::from(1_000), data: Default::default() };
    // Each of them would be done in its own queue, as what comes last shows.
    for (kind, calls) in [
        (WriteKind::Plain, vec![payment.clone()]),
        (WriteKind::Plain, vec![grant.clone()]),
        (WriteKind::Plain, vec![plain.clone(), grant.clone()]),
        (WriteKind::Payment, vec![grant.clone()]),
        (WriteKind::Payment, vec![plain.clone()]),
        (WriteKind::Payment, vec![payment.clone(), grant.clone()]),
        (WriteKind::Grant, vec![payment.clone()]),
        (WriteKind::Grant, vec![grant.clone(), payment.clone()]),
    ] {
        let refused = outcome(&stack, &victim, kind, calls.clone()).await;
        assert_eq!(
            (&refused["status"], &refused["hash"]),
            (&"failed".into(), &Value::Null),
            "{kind} {calls:?}: {refused}"
        );
    }
    for (kind, call) in [(WriteKind::Plain, plain), (WriteKind::Payment, payment), (WriteKind::Grant, grant)] {
        assert_eq!(outcome(&stack, &victim, kind, vec![call]).await["status"], "mined", "{kind}");
    }
}
