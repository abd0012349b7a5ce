//! `POST /comments/{network}/{contract}`

use alloy::{primitives::Address, providers::Provider, signers::local::PrivateKeySigner};
use serde_json::{Value, json};
use tests::{Answer, Stack};

const SPARK: u64 = 1_000_000_000_000;
const FEE: u64 = 111_000_000_000_000;

fn path(collection: Address) -> String {
    format!("/comments/eip155:8453/erc1155:{collection}")
}

async fn post_comment(stack: &Stack, collection: Address, key: &str, body: Value) -> Answer {
    stack.write(&path(collection), key, &body, &[]).await
}

async fn listed(stack: &Stack, collection: Address, text: &str) -> Value {
    let path = format!("/comments?collectionAddress={collection}&tokenId=1");
    stack.wait_for_comment(&path, |comment| comment["comment"] == text).await
}

#[tokio::test]
async fn reply_appears_under_its_comment() {
    let stack = Stack::connect();
    let (artist, collector) = (stack.new_writer().await, stack.new_collector().await);
    let collection = artist.collection;
    // An admin of the moment comments for free.
    let first = json!({"tokenId": "1", "text": "Made at dawn.\nAsk me anything."});
    let answer = post_comment(&stack, collection, &artist.key, first).await.expect_success();
    assert_eq!(answer.body["chainId"], 8453);
    let comment = listed(&stack, collection, "Made at dawn.\nAsk me anything.").await;
    assert_eq!(comment["sender"], artist.artist.wallet);

    // Everybody else must have collected it and pays a spark.
    let reply = json!({"tokenId": "1", "text": "Where?", "replyTo": comment["commentId"]});
    let answer = post_comment(&stack, collection, &collector.key, reply.clone()).await.expect_error(403);
    assert_eq!(answer.body["message"], "Collect this moment before commenting");
    stack.set_balance(collector.account, FEE + 1_000).await;
    let order = json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "amount": 1});
    stack.write("/moment/collect", &collector.key, &order, &[]).await.expect_success();
    let answer = post_comment(&stack, collection, &collector.key, reply.clone()).await.expect_error(402);
    let message = answer.body["message"].as_str().expect("a message");
    assert!(message.contains("needs 0.000001 ETH, has 0 ETH"), "{message}");
    stack.set_balance(collector.account, SPARK).await;
    post_comment(&stack, collection, &collector.key, reply).await.expect_success();
    assert!(stack.chain().get_balance(collector.account).await.expect("a balance").is_zero());

    let page = format!("/comments?collectionAddress={collection}&tokenId=1");
    let with_reply = |parent: &Value| parent["commentId"] == comment["commentId"] && parent["replyCount"] == 1;
    let parent = stack.wait_for_comment(&page, with_reply).await;
    assert_eq!(parent["replies"][0]["comment"], "Where?");
    assert_eq!(parent["replies"][0]["sender"], collector.artist.wallet);

    // A reply to a reply.
    let answer = json!({"tokenId": "1", "text": "North pier.", "replyTo": parent["replies"][0]["commentId"]});
    post_comment(&stack, collection, &artist.key, answer).await.expect_success();
}

#[tokio::test]
async fn reply_on_another_moment_is_refused() {
    let stack = Stack::connect();
    let (artist, other) = (stack.new_writer().await, stack.new_writer().await);
    post_comment(&stack, artist.collection, &artist.key, json!({"tokenId": "1", "text": "Here"}))
        .await
        .expect_success();
    let comment = listed(&stack, artist.collection, "Here").await;
    let reply = json!({"tokenId": "1", "text": "There", "replyTo": comment["commentId"]});
    let answer = post_comment(&stack, other.collection, &other.key, reply).await.expect_error(400);
    assert_eq!(answer.failing_fields(), ["replyTo"]);
    let unknown = json!({"tokenId": "1", "text": "?", "replyTo": format!("0x{}", "ab".repeat(32))});
    post_comment(&stack, artist.collection, &artist.key, unknown).await.expect_error(404);
    for (collection, token) in [(artist.collection, "2"), (artist.collection, "0"), (Address::repeat_byte(9), "1")] {
        post_comment(&stack, collection, &artist.key, json!({"tokenId": token, "text": "Hello?"}))
            .await
            .expect_error(404);
    }
}

#[tokio::test]
async fn every_invalid_field_is_named() {
    let stack = Stack::connect();
    let artist = stack.new_writer().await;
    for (body, fields) in [
        (json!({}), vec!["tokenId", "text"]),
        (json!({"tokenId": "-1", "text": ""}), vec!["tokenId", "text"]),
        (json!({"tokenId": "1.5", "text": " \n "}), vec!["tokenId", "text"]),
        (json!({"tokenId": "1", "text": "é".repeat(1_001)}), vec!["text"]),
        (json!({"tokenId": "1", "text": "bell\u{7}"}), vec!["text"]),
        (json!({"tokenId": "1", "text": "x", "replyTo": "0x1"}), vec!["replyTo"]),
        (json!({"tokenId": "1", "text": "x", "replyTo": {"nonce": "0x1"}}), vec!["replyTo"]),
    ] {
        let answer = post_comment(&stack, artist.collection, &artist.key, body.clone()).await.expect_error(400);
        assert_eq!(answer.failing_fields(), fields, "{body}");
    }
    let wrong = "/comments/eip155:10/erc721:0x1";
    let answer =
        stack.write_once(wrong, &artist.key, &json!({"tokenId": "1", "text": "x"}), &[]).await.expect_error(400);
    assert_eq!(answer.failing_fields(), ["network", "contract"]);
    Answer::of(stack.post(&path(artist.collection)).json(&json!({}))).await.expect_error(401);
}

#[tokio::test]
async fn wallet_comments_with_one_call_once_it_has_collected() {
    let stack = Stack::connect();
    let artist = stack.new_writer().await;
    let wallet = PrivateKeySigner::random().address();
    let path = format!("{}/prepare", path(artist.collection));
    let body = json!({"tokenId": "1", "text": "From my own wallet", "account": wallet});
    stack.set_balance(wallet, 1_000_000_000_000_000_000).await;
    let timeline = format!("/timeline?collection={:#x}", artist.collection);
    stack.wait_until(&timeline, |body| body["moments"][0].is_object()).await;
    let refused = stack.post_json(&path, &body).await.expect_error(403);
    assert_eq!(refused.body["message"], "Collect this moment before commenting");
    let order =
        json!({"moment": {"collectionAddress": artist.collection, "tokenId": "1"}, "amount": 1, "account": wallet});
    let collect = stack.post_json("/moment/collect/prepare", &order).await.expect_success();
    stack.send_calls(wallet, &collect.body["calls"]).await;
    let answer = stack.post_json(&path, &body).await.expect_success();
    assert_eq!(
        answer.body["cost"],
        json!({"currency": "ETH", "amount": SPARK.to_string(), "decimalAmount": "0.000001"}),
        "{answer:?}"
    );
    stack.send_calls(wallet, &answer.body["calls"]).await;
    assert_eq!(listed(&stack, artist.collection, "From my own wallet").await["sender"], json!(format!("{wallet:#x}")));

    stack.set_balance(wallet, 1).await;
    stack.post_json(&path, &body).await.expect_error(402);
    let wrong = json!({"tokenId": "1", "text": "", "account": "me"});
    assert_eq!(stack.post_json(&path, &wrong).await.expect_error(400).failing_fields(), ["text", "account"]);
    let strange = json!({"tokenId": "7", "text": "?", "account": wallet});
    stack.post_json(&path, &strange).await.expect_error(404);
    let foreign = format!("/comments/eip155:8453/erc1155:{}/prepare", Address::repeat_byte(9));
    stack.post_json(&foreign, &body).await.expect_error(404);
}
