//! Somebody has taken over a function that queues writes: they queue what no endpoint would.

use alloy::{
    primitives::{Address, U256},
    providers::Provider,
    signers::local::PrivateKeySigner,
    sol_types::SolValue,
};
use aws_sdk_dynamodb::types::AttributeValue;
use local::queue::queue_calls;
use serde_json::{Value, json};
use shared::{
    chain::contracts::native::{Creator1155, Erc20, Erc20Minter, TimedMinter},
    model::{Call, ChainId, WriteKind},
};
use tests::{Answer, Collector, Stack, eventually, personal_sign};

const CHAIN: ChainId = ChainId(8453);
const GAS: u64 = 1_000_000;

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
async fn purchase_for_somebody_else_is_never_signed() {
    const FEE: u64 = 111_000_000_000_000;
    const PRICE: u64 = 1_500_000;
    let stack = Stack::connect();
    let (seller, victim) = (stack.new_collector().await, stack.new_collector().await);
    let stranger = PrivateKeySigner::random().address();
    stack.set_balance(victim.account, 10 * FEE).await;
    stack.give_usdc(victim.account, 10 * PRICE).await;
    let usdc = stack.contract("usdc");
    let sale = |kind: &str, price: u64| {
        let (price, end) = (price.to_string(), u64::MAX.to_string());
        json!({"type": kind, "pricePerToken": price, "saleStart": 0, "saleEnd": end})
    };
    let mut sale_for_usdc = sale("erc20Mint", PRICE);
    sale_for_usdc["currency"] = json!(usdc);
    let fixed = stack.publish(&seller.key, sale("fixedPrice", 1_000), json!({})).await;
    let for_usdc = stack.publish(&seller.key, sale_for_usdc, json!({})).await;
    let timed = stack.publish(&seller.key, sale("timed", 0), json!({})).await;
    let purchases = |to: Address| {
        let (fee, price) = (U256::from(FEE), U256::from(PRICE));
        let mint = Creator1155::mintCall {
            minter: stack.contract("fixedPriceMinter"),
            tokenId: U256::ONE,
            quantity: U256::ONE,
            rewardsRecipients: Vec::new(),
            minterArguments: (to, String::new()).abi_encode_params().into(),
        };
        let approve = Erc20::approveCall { spender: stack.contract("erc20Minter"), amount: price };
        let mint_for_usdc = Erc20Minter::mintCall {
            mintTo: to,
            quantity: U256::ONE,
            tokenAddress: for_usdc,
            tokenId: U256::ONE,
            totalValue: price,
            currency: usdc,
            mintReferral: Address::ZERO,
            comment: String::new(),
        };
        let mint_in_time = TimedMinter::mintCall {
            mintTo: to,
            quantity: U256::ONE,
            collection: timed,
            tokenId: U256::ONE,
            mintReferral: Address::ZERO,
            comment: String::new(),
        };
        let minter = Call::new(stack.contract("erc20Minter"), &mint_for_usdc).with_value(fee);
        let in_time = Call::new(stack.contract("timedMinter"), &mint_in_time).with_value(fee);
        [
            (fixed, vec![Call::new(fixed, &mint).with_value(fee + U256::from(1_000))]),
            (for_usdc, vec![Call::new(usdc, &approve), minter]),
            (timed, vec![in_time]),
        ]
    };

    for (collection, calls) in purchases(stranger) {
        let refused = outcome(&stack, &victim, WriteKind::Payment, calls.clone()).await;
        assert_eq!((&refused["status"], &refused["hash"]), (&"failed".into(), &Value::Null), "{calls:?}: {refused}");
        assert!(refused["reason"].as_str().is_some_and(|reason| reason.contains("policy")), "{calls:?}: {refused}");
        assert!(stack.tokens_of(stranger, collection).await.is_zero());
    }
    for (collection, calls) in purchases(victim.account) {
        let bought = outcome(&stack, &victim, WriteKind::Payment, calls.clone()).await;
        assert_eq!(bought["status"], "mined", "{calls:?}: {bought}");
        assert_eq!(stack.tokens_of(victim.account, collection).await, U256::ONE);
    }
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
