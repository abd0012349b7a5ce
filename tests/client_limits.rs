//! Limits per client network, and the distribution's header.

use serde_json::{Value, json};
use tests::{HOUR, MINUTE, Sandbox, Stack, unused_address, unused_email, unused_network, within_one_window};

/// Statuses of three requests.
async fn thrice(request: impl AsyncFn() -> u16) -> [u16; 3] {
    [request().await, request().await, request().await]
}

#[tokio::test]
async fn tries_to_sign_in_are_limited_by_client() {
    let stack = Stack::connect();
    let sandbox = Sandbox::with_variables(&stack, "log-in", &[("SIGN_INS_PER_CLIENT_HOURLY", "1")]).await;
    let body = json!({"email": unused_email(), "code": "000000"});
    let (statuses, (status, refusal), elsewhere) = within_one_window(HOUR, async || {
        let network = unused_network();
        let statuses = thrice(async || sandbox.post(&format!("{network}::1"), &body).await.0).await;
        let beside = sandbox.post(&format!("{network}::2"), &body).await;
        (statuses, beside, sandbox.post(&format!("{network}:1::1"), &body).await.0)
    })
    .await;
    assert_eq!(statuses, [401, 429, 429]);
    assert_eq!((status, &refusal["status"]), (429, &json!("error")), "another address of the same network");
    assert_eq!(elsewhere, 401, "another network");
}

#[tokio::test]
async fn writes_are_limited_by_client_whatever_becomes_of_them() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let key = stack.create_key(&artist, &json!({})).await.body["apiKey"].as_str().expect("a key").to_owned();
    let sandbox = Sandbox::with_variables(&stack, "create-moment", &[("WRITES_PER_CLIENT_MINUTELY", "1")]).await;
    let send = async |client: &str, key: &str| sandbox.post_with(client, &json!({}), &[("x-api-key", key)]).await.0;
    let statuses = within_one_window(MINUTE, async || {
        let client = unused_address();
        thrice(async || send(&client, &key).await).await
    })
    .await;
    assert_eq!(statuses, [400, 429, 429]);
    assert_eq!(send(&unused_address(), &key).await, 400, "another client");
    assert_eq!(send(&unused_address(), "moments_wrong").await, 401, "without a key nothing is counted");
}

#[tokio::test]
async fn reads_of_balances_are_limited_by_client() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let variables = [("WALLET_READS_PER_CLIENT_MINUTELY", "1")];
    let sandbox = Sandbox::with_variables(&stack, "read-smart-wallet", &variables).await;
    let read = async |client: &str| {
        let mut event = sandbox.event();
        event["rawQueryString"] = json!(format!("address={}", artist.wallet));
        event["requestContext"]["http"]["sourceIp"] = json!(client);
        sandbox.invoke(&event).await["statusCode"].as_u64().and_then(|status| u16::try_from(status).ok()).expect("one")
    };
    let statuses = within_one_window(MINUTE, async || {
        let client = unused_address();
        thrice(async || read(&client).await).await
    })
    .await;
    assert_eq!(statuses, [200, 429, 429]);
    assert_eq!(read(&unused_address()).await, 200, "another client");
}

#[tokio::test]
async fn behind_a_distribution_only_its_requests_are_answered_and_limits_are_the_viewers() {
    let stack = Stack::connect();
    let variables = [("ORIGIN_SECRET", "only the distribution knows"), ("SIGN_INS_PER_CLIENT_HOURLY", "1")];
    let sandbox = Sandbox::with_variables(&stack, "log-in", &variables).await;
    let body = json!({"email": unused_email(), "code": "000000"});
    let (status, refusal) = sandbox.post(&unused_address(), &body).await;
    assert_eq!((status, &refusal["status"]), (403, &json!("error")));
    assert!(refusal["message"].as_str().is_some_and(|message| message.contains("base URL")), "{refusal}");
    let edge = unused_address();
    let through = async |viewer: &str| -> (u16, Value) {
        let viewer = format!("{viewer}:4711");
        let headers = [("x-origin-secret", "only the distribution knows"), ("cloudfront-viewer-address", &viewer)];
        sandbox.post_with(&edge, &body, &headers).await
    };
    let statuses = within_one_window(HOUR, async || {
        let viewer = unused_address();
        thrice(async || through(&viewer).await.0).await
    })
    .await;
    assert_eq!(statuses, [401, 429, 429]);
    assert_eq!(through(&unused_address()).await.0, 401, "another viewer at the same edge");
}
