//! Referrals of collects: who gets the protocol's reward, on the chain and in `GET /payments`.

use alloy::{
    primitives::{Address, U256},
    signers::local::PrivateKeySigner,
    sol_types::SolCall,
};
use serde_json::{Value, json};
use shared::chain::{
    PROTOCOL_REWARDS,
    contracts::native::{Creator1155, ProtocolRewards},
};
use tests::{Answer, Sandbox, Stack};
use uuid::Uuid;

const ETHER: u64 = 1_000_000_000_000_000_000;
/// The protocol's mint fee per token, in wei, and what a referral gets of it, in millionths of a per cent.
const FEE: u64 = 111_000_000_000_000;
const SHARE: u64 = 28_571_400;

fn sale(price: u64) -> Value {
    json!({"type": "fixedPrice", "pricePerToken": price.to_string(), "saleStart": 0, "saleEnd": u64::MAX.to_string()})
}

fn order(collection: Address, referral: &str) -> Value {
    let moment = json!({"collectionAddress": collection, "tokenId": "1"});
    json!({"moment": moment, "amount": 2, "referral": referral})
}

async fn payment_to(stack: &Stack, seller: Address, buyer: Address) -> Value {
    let is_there = |payment: &&Value| payment["buyer"]["address"] == json!(format!("{buyer:#x}"));
    let path = format!("/payments?artist={seller:#x}");
    let of = |body: &Value| body["payments"].as_array().and_then(|all| all.iter().find(is_there).cloned());
    of(&stack.wait_until(&path, |body| of(body).is_some()).await).expect("a payment")
}

#[tokio::test]
async fn referral_gets_its_share_to_the_wei_in_either_currency() {
    let stack = Stack::connect();
    let (seller, buyer, sender) = (stack.new_collector().await, stack.new_collector().await, stack.new_artist().await);
    let name = format!("sends.{}", &Uuid::new_v4().simple().to_string()[..8]);
    let named = stack.patch("/artists/me").bearer_auth(&sender.token).json(&json!({"username": name}));
    Answer::of(named).await.expect_success();
    let account: Address = sender.wallet.parse().expect("an address");
    stack.set_balance(buyer.account, ETHER).await;

    let collection = stack.publish(&seller.key, sale(1_000), json!({})).await;
    stack.write("/moment/collect", &buyer.key, &order(collection, &name.to_uppercase()), &[]).await.expect_success();
    let reward = U256::from(2 * FEE) * U256::from(SHARE) / U256::from(100_000_000);
    let rewards = ProtocolRewards::new(PROTOCOL_REWARDS, stack.chain());
    assert_eq!(rewards.balanceOf(account).call().await.expect("a balance"), reward);
    let payment = payment_to(&stack, seller.account, buyer.account).await;
    let shown = json!({"address": sender.wallet, "username": name, "amount": "0.000063428508"});
    assert_eq!(payment["referral"], shown);

    let mut terms = sale(1_500_000);
    (terms["type"], terms["currency"]) = (json!("erc20Mint"), json!(stack.contract("usdc")));
    let other = stack.new_collector().await;
    let collection = stack.publish(&other.key, terms, json!({})).await;
    stack.give_usdc(buyer.account, 3_000_000).await;
    let said = order(collection, &sender.wallet);
    stack.write("/moment/collect", &buyer.key, &said, &[]).await.expect_success();
    // A twentieth of three dollars is the protocol's.
    let dollars = 150_000 * SHARE / 100_000_000;
    assert_eq!(stack.usdc_of(account).await, U256::from(dollars));
    let payment = payment_to(&stack, other.account, buyer.account).await;
    assert_eq!(payment["referral"]["amount"], json!(format!("0.0{dollars}")));

    let unsent = stack.new_collector().await;
    let collection = stack.publish(&unsent.key, sale(1_000), json!({})).await;
    let mut alone = order(collection, "");
    alone.as_object_mut().expect("an object").remove("referral");
    stack.write("/moment/collect", &buyer.key, &alone, &[]).await.expect_success();
    assert_eq!(payment_to(&stack, unsent.account, buyer.account).await["referral"], Value::Null);
}

#[tokio::test]
async fn nobody_is_their_own_referral() {
    let stack = Stack::connect();
    let (seller, buyer) = (stack.new_collector().await, stack.new_collector().await);
    let collection = stack.publish(&seller.key, sale(0), json!({})).await;
    stack.set_balance(buyer.account, ETHER).await;
    let name = format!("own.{}", &Uuid::new_v4().simple().to_string()[..8]);
    let named = stack.patch("/artists/me").bearer_auth(&buyer.artist.token).json(&json!({"username": name}));
    Answer::of(named).await.expect_success();
    let wallet = PrivateKeySigner::random();
    stack.connect_wallet(&buyer.artist, &wallet).await.expect_success();
    let connected = format!("{:#x}", wallet.address());
    for referral in [&buyer.artist.wallet, &name, &connected, "nobody.of.this.name"] {
        let refused = stack.write_once("/moment/collect", &buyer.key, &order(collection, referral), &[]).await;
        assert_eq!(refused.expect_error(400).failing_fields(), ["referral"], "{referral}");
    }
    // Neither does a wallet collect by its artist's link.
    stack.set_balance(wallet.address(), ETHER).await;
    for referral in [&buyer.artist.wallet, &name, &connected] {
        let mut body = order(collection, referral);
        body["account"] = json!(connected);
        let refused = stack.post_json("/moment/collect/prepare", &body).await.expect_error(400);
        assert_eq!(refused.failing_fields(), ["referral"], "{referral}");
    }
}

#[tokio::test]
async fn operator_is_the_referral_of_those_who_name_none() {
    let stack = Stack::connect();
    let seller = stack.new_collector().await;
    let collection = stack.publish(&seller.key, sale(0), json!({})).await;
    stack.wait_until(&format!("/timeline?collection={collection:#x}"), |body| body["moments"][0].is_object()).await;
    let (operator, buyer, other) = (Address::repeat_byte(0x0b), Address::repeat_byte(0xb1), Address::repeat_byte(0xb2));
    for account in [operator, buyer] {
        stack.set_balance(account, ETHER).await;
    }
    let sandbox = Sandbox::with_variables(&stack, "prepare-collect", &[("REFERRAL", &format!("{operator:#x}"))]).await;
    let moment = json!({"collectionAddress": collection, "tokenId": "1"});
    for (account, referral, rewarded) in
        [(buyer, Value::Null, vec![operator]), (buyer, json!(other), vec![other]), (operator, Value::Null, vec![])]
    {
        let body = json!({"moment": moment, "amount": 1, "account": format!("{account:#x}"), "referral": referral});
        let (status, answer) = sandbox.post("192.0.2.90", &body).await;
        assert_eq!(status, 200, "{answer}");
        let data = answer["calls"][0]["data"].as_str().expect("data");
        let data = alloy::hex::decode(data).expect("hexadecimal digits");
        assert_eq!(Creator1155::mintCall::abi_decode(&data).expect("a mint").rewardsRecipients, rewarded);
    }
}
