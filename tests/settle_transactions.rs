use std::{collections::HashMap, time::Duration};

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use tests::{ReceiptHidingProxy, Sandbox, Stack};

type Row = HashMap<String, AttributeValue>;

/// The lanes' transactions with this status.
async fn transactions(stack: &Stack, status: &str) -> Vec<Row> {
    let client = stack.dynamodb().await;
    let mut found = Vec::new();
    for lane in stack.map.names["OperatorLanes"].split(',') {
        let text = |text: String| AttributeValue::S(text);
        let query =
            client.query().table_name("ArtistTable").key_condition_expression("pk = :pk AND begins_with(sk, :tx)");
        let query = query.expression_attribute_values(":pk", text(format!("LANE#8453#{lane}")));
        let query = query.expression_attribute_values(":tx", text("TX#".to_owned()));
        let rows = query.into_paginator().items().send().collect::<Result<Vec<Row>, _>>().await;
        let rows = rows.expect("the lane's transactions").into_iter();
        found.extend(rows.filter(|row| row["status"].as_s().is_ok_and(|found| found == status)));
    }
    found
}

#[tokio::test]
async fn refused_write_can_be_retried_and_does_not_block_its_lane() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let receipt_hiding_proxy = ReceiptHidingProxy::refusing(&stack.map.rpc["8453"]).await;
    let nodes = json!({"8453": [receipt_hiding_proxy.url]}).to_string();
    let refused = Sandbox::with_variables(&stack, "create-collection", &[("RPC_URLS", &nodes)]).await;
    let body = json!({"name": "Refused", "uri": "ar://refused"});
    let key = ("idempotency-key", "refused");

    let (status, answer) = refused.post_with("192.0.2.4", &body, &[("x-api-key", &writer.key), key]).await;
    assert_eq!(status, 502, "{answer}");
    // An abandoned nonce is filled a minute after its claim, so the claims are dated back.
    for row in transactions(&stack, "abandoned").await {
        let key = |name: &str| row[name].as_s().expect("a key").clone();
        stack.set("ArtistTable", &key("pk"), &key("sk"), "claimed_at", AttributeValue::N("1".to_owned())).await;
    }
    // The idempotency key is free again, and the lane continues.
    stack.write("/collections", &writer.key, &body, &[key]).await.expect_success();
    for _ in 0..100 {
        if !transactions(&stack, "filled").await.is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the nonce isn't filled after 10 s");
}
