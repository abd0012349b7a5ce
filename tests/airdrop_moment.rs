//! `POST /moment/airdrop`

use alloy::{
    primitives::{Address, B256, U256, keccak256},
    providers::Provider,
};
use serde_json::{Value, json};
use tests::{Answer, Stack};
use uuid::Uuid;

const PATH: &str = "/moment/airdrop";

fn body(collection: Address, recipients: &[Address]) -> Value {
    json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "recipients": recipients})
}

fn recipients(count: u64) -> Vec<Address> {
    (0..count).map(|number| Address::from_word(keccak256(number.to_be_bytes()))).collect()
}

#[tokio::test]
async fn airdrop_to_two_hundred_is_one_transaction() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let mut recipients = recipients(200);
    recipients[199] = recipients[0];
    let answer = stack.write(PATH, &writer.key, &body(writer.collection, &recipients), &[]).await.expect_success();
    let hash: B256 = answer.body["hash"].as_str().and_then(|hash| hash.parse().ok()).expect("a hash");
    let receipt = stack.chain().get_transaction_receipt(hash).await.expect("an answer").expect("a receipt");
    println!("gas: {}", receipt.gas_used);
    for (recipient, count) in [(recipients[0], 2), (recipients[1], 1), (recipients[198], 1)] {
        assert_eq!(stack.tokens_of(recipient, writer.collection).await, U256::from(count));
    }
}

#[tokio::test]
async fn impossible_airdrop_is_refused_with_the_reason() {
    let stack = Stack::connect();
    let (writer, stranger) = (stack.new_writer().await, stack.new_writer().await);
    let airdrop = async |key: &str, collection: Address, recipients: &[Address]| {
        stack.write(PATH, key, &body(collection, recipients), &[]).await
    };
    let answer = airdrop(&stranger.key, writer.collection, &recipients(1)).await.expect_error(403);
    assert!(answer.body["message"].as_str().is_some_and(|message| message.contains("MINTER")), "{answer:?}");
    airdrop(&writer.key, Address::repeat_byte(9), &recipients(1)).await.expect_error(404);

    let sale = json!({"type": "fixedPrice", "pricePerToken": "0", "saleStart": 0, "saleEnd": u64::MAX.to_string()});
    let limited = stack.publish(&writer.key, sale, json!({"maxSupply": 2})).await;
    let answer = airdrop(&writer.key, limited, &recipients(3)).await.expect_error(422);
    assert!(answer.body["message"].as_str().is_some_and(|message| message.contains("Only 2")), "{answer:?}");
    airdrop(&writer.key, limited, &recipients(2)).await.expect_success();
    // A contract that can't receive ERC-1155 tokens.
    let answer = airdrop(&writer.key, writer.collection, &[stack.contract("usdc")]).await.expect_error(422);
    assert!(
        answer.body["message"].as_str().is_some_and(|message| message.contains("takes no such tokens")),
        "{answer:?}"
    );
}

#[tokio::test]
async fn artists_are_named_by_username_and_nobody_by_a_name_that_may_be_somebody_elses() {
    let stack = Stack::connect();
    let (writer, known, poser) = (stack.new_writer().await, stack.new_artist().await, stack.new_artist().await);
    let suffix = &Uuid::new_v4().simple().to_string()[..8];
    let (name, of_ens, old) = (format!("given.{suffix}"), format!("vitalik-{suffix}.eth"), format!("was.{suffix}"));
    let rename = async |token: &str, name: &str| {
        let named = stack.patch("/artists/me").bearer_auth(token).json(&json!({"username": name}));
        Answer::of(named).await.expect_success();
    };
    rename(&known.token, &old).await;
    rename(&known.token, &name).await;
    rename(&poser.token, &of_ens).await;
    let stranger = Address::from_word(keccak256(suffix));
    let airdrop = async |recipients: Value| {
        let moment = json!({"collectionAddress": writer.collection, "tokenId": "1"});
        stack.write(PATH, &writer.key, &json!({"moment": moment, "recipients": recipients}), &[]).await
    };

    let answer = airdrop(json!([stranger, old, name, of_ens, "nobody.at.all"])).await.expect_error(400);
    assert_eq!(answer.failing_fields(), ["recipients.1", "recipients.3", "recipients.4"]);
    assert!(answer.body["errors"][1]["message"].as_str().is_some_and(|words| words.contains("ENS")), "{answer:?}");

    airdrop(json!([name, stranger, name.to_uppercase(), poser.wallet])).await.expect_success();
    for (account, tokens) in [(known.wallet.as_str(), 2), (poser.wallet.as_str(), 1)] {
        let account = account.parse().expect("an address");
        assert_eq!(stack.tokens_of(account, writer.collection).await, U256::from(tokens));
    }
    assert_eq!(stack.tokens_of(stranger, writer.collection).await, U256::ONE);
}

#[tokio::test]
async fn every_invalid_recipient_is_named() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let valid = body(writer.collection, &recipients(1));
    let with = |recipients: Value| {
        let mut body = valid.clone();
        body["recipients"] = recipients;
        body
    };
    for (body, fields) in [
        (json!({}), vec!["moment", "recipients"]),
        (with(json!([])), vec!["recipients"]),
        (with(json!(recipients(201))), vec!["recipients"]),
        (with(json!("0x1")), vec!["recipients"]),
        (
            with(json!(["0x1", recipients(1)[0], format!("0x{}", "0".repeat(40)), 7])),
            vec!["recipients.0", "recipients.2", "recipients.3"],
        ),
    ] {
        let answer = stack.write_once(PATH, &writer.key, &body, &[]).await.expect_error(400);
        assert_eq!(answer.failing_fields(), fields, "{body}");
    }
    Answer::of(stack.post(PATH).json(&valid)).await.expect_error(401);
}
