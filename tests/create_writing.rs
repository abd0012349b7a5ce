//! `POST /moment/create/writing`

use serde_json::json;
use tests::Stack;

#[tokio::test]
async fn a_text_is_published_in_one_call() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let text = format!("It came in at four.\n{}", uuid::Uuid::new_v4());
    let sale = json!({"type": "fixedPrice", "pricePerToken": "1", "saleStart": 0, "saleEnd": u64::MAX});
    let contract = json!({"address": writer.collection});
    let body = json!({"contract": contract, "title": "Fog", "text": text, "token": {"salesConfig": sale}});
    let made = stack.write("/moment/create/writing", &writer.key, &body, &[]).await.expect_success().body;
    let token = made["tokenId"].as_str().expect("a number");
    let path = format!("/moment?collectionAddress={}&tokenId={token}", writer.collection);
    let moment = stack.wait_until(&path, |moment| moment["metadata"]["name"] == "Fog").await;
    assert_eq!(moment["metadata"]["content"]["mime"], "text/plain");
    let cid = moment["metadata"]["content"]["uri"].as_str().and_then(|uri| uri.strip_prefix("ipfs://")).expect("a URI");
    let served = stack.get(&format!("/ipfs/{cid}")).send().await.expect("an answer");
    assert_eq!(served.headers()["content-type"], "text/plain; charset=utf-8");
    assert_eq!(served.text().await.expect("a text"), text);

    let empty = json!({"contract": contract, "title": "Fog", "token": {"salesConfig": sale}});
    let refused = stack.write_once("/moment/create/writing", &writer.key, &empty, &[]).await;
    assert_eq!((refused.status, refused.failing_fields()), (400, vec!["text"]));
}
