//! `POST /metadata`, and metadata in place of a URI

use serde_json::{Value, json};
use tests::{Answer, Stack};

#[tokio::test]
async fn a_stored_document_is_served_and_indexed_from_here() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let text = format!("Words {}", uuid::Uuid::new_v4());
    let metadata = json!({
        "name": text,
        "description": "04:12,\n3.4 metres.",
        "image": "ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
        "external_url": "https://example.com/tides",
        "attributes": [{"trait_type": "height", "value": 3.4}, {"trait_type": "spring", "value": true}],
    });
    let store = async |metadata: &Value| {
        Answer::of(stack.post("/metadata").bearer_auth(&writer.artist.token).json(metadata)).await
    };
    let stored = store(&metadata).await.expect_success().body;
    assert_eq!(store(&metadata).await.expect_success().body, stored, "the same fields have the same URI");
    let served = Answer::of(stack.http.get(stored["url"].as_str().expect("a URL"))).await.expect_success();
    assert_eq!(served.body, metadata);

    let sale = json!({"type": "fixedPrice", "pricePerToken": "1", "saleStart": 0, "saleEnd": u64::MAX});
    let token = json!({"metadata": metadata, "salesConfig": sale, "mintToCreatorCount": 1});
    let contract = json!({"name": "Tides", "uri": stored["uri"]});
    let body = json!({"contract": contract, "token": token});
    let made = stack.write("/moment/create", &writer.key, &body, &[]).await.expect_success().body;
    let moment = stack.wait_until(&path_of(&made), |moment| moment["metadata"]["name"] == text.as_str()).await;
    assert_eq!(moment["uri"], stored["uri"]);

    let both = json!({"contract": contract, "token": {"metadata": metadata, "tokenMetadataURI": "ar://x", "salesConfig": sale}});
    let refused = stack.write_once("/moment/create", &writer.key, &both, &[]).await.expect_error(400);
    assert_eq!(refused.failing_fields(), ["token.tokenMetadataURI"]);
}

/// Where the moment that a write made is read.
fn path_of(made: &Value) -> String {
    let part = |name: &str| made[name].as_str().expect("a text").to_owned();
    format!("/moment?collectionAddress={}&tokenId={}", part("contractAddress"), part("tokenId"))
}

#[tokio::test]
async fn every_wrong_field_is_named() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let wrong = json!({
        "name": "", "description": "a\u{0}", "image": "http://x", "animation_url": 7, "content": {"mime": "x", "uri": "x"},
        "external_url": "javascript:alert(1)", "attributes": [{"trait_type": "x", "value": {}}],
    });
    let answer = Answer::of(stack.post("/metadata").bearer_auth(&artist.token).json(&wrong)).await;
    let fields = [
        "name",
        "description",
        "image",
        "animation_url",
        "content.mime",
        "content.uri",
        "external_url",
        "attributes.0.value",
    ];
    assert_eq!((answer.status, answer.failing_fields()), (400, fields.to_vec()));
}
