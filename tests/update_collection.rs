//! `PATCH /collections/{network}/{contract}`

use alloy::{primitives::Address, sol};
use serde_json::{Value, json};
use shared::chain::contracts::native::Creator1155;
use tests::{Answer, Stack};

sol! {
    #[sol(rpc)]
    interface Collections {
        function contractURI() external view returns (string memory);
    }
}

fn path(collection: Address) -> String {
    format!("/collections/eip155:8453/erc1155:{collection}")
}

async fn update(stack: &Stack, path: &str, key: &str, body: &Value) -> Answer {
    Answer::of_write(stack.patch(path).header("x-api-key", key).json(body)).await
}

#[tokio::test]
async fn name_and_uri_of_a_collection_are_changed() {
    let stack = Stack::connect();
    let (writer, stranger) = (stack.new_writer().await, stack.new_writer().await);
    let body = json!({"newUri": "ar://renamed", "newCollectionName": "Second Thoughts 💭"});
    let answer = update(&stack, &path(writer.collection), &stranger.key, &body).await.expect_error(403);
    assert!(answer.body["message"].as_str().is_some_and(|message| message.contains("METADATA")), "{answer:?}");

    let answer = update(&stack, &path(writer.collection), &writer.key, &body).await.expect_success();
    assert_eq!(answer.body["chainId"], 8453);
    let name = Creator1155::new(writer.collection, stack.chain()).name().call().await.expect("a name");
    let uri = Collections::new(writer.collection, stack.chain()).contractURI().call().await.expect("a URI");
    assert_eq!((name.as_str(), uri.as_str()), ("Second Thoughts 💭", "ar://renamed"));
    update(&stack, &path(Address::repeat_byte(9)), &writer.key, &body).await.expect_error(404);
}

#[tokio::test]
async fn invalid_path_and_body_are_named_together() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let valid = json!({"newUri": "ar://x", "newCollectionName": "x"});
    let long = json!({"newUri": "http://plain.example", "newCollectionName": "x".repeat(201)});
    for (path, body, fields) in [
        (path(writer.collection), json!({}), vec!["newUri", "newCollectionName"]),
        (path(writer.collection), long, vec!["newUri", "newCollectionName"]),
        (
            "/collections/eip155:10/erc1155:0x1".to_owned(),
            json!({}),
            vec!["network", "contract", "newUri", "newCollectionName"],
        ),
        (format!("/collections/eip155:10/erc1155:{}", writer.collection), valid.clone(), vec!["network"]),
        (format!("/collections/8453/{}", writer.collection), valid.clone(), vec!["network", "contract"]),
    ] {
        let answer = update(&stack, &path, &writer.key, &body).await.expect_error(400);
        assert_eq!(answer.failing_fields(), fields, "{path} {body}");
    }
    Answer::of(stack.patch(&path(writer.collection)).json(&valid)).await.expect_error(401);
}
