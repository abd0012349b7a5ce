//! A token that was signed out, or is old, is replayed.

use serde_json::json;
use tests::{Answer, SignedIn, Stack};

async fn requests(stack: &Stack, token: &str) -> Vec<Answer> {
    let mut answers = Vec::new();
    for request in [
        stack.get("/artists/api-keys"),
        stack.post("/artists/api-keys"),
        stack.delete("/artists/api-keys?keyId=019a2b3c-4d5e-7f60-8172-839405a6b7c8"),
        stack.get("/artists/wallets"),
        stack
            .post("/artists/wallets/challenge")
            .json(&json!({"address": "0x00000000000000000000000000000000000000a1"})),
        stack.post("/artists/wallets").json(&json!({"message": "x", "signature": "0x00"})),
        stack.delete("/artists/wallets?address=0x00000000000000000000000000000000000000a1"),
        stack.patch("/artists/me").json(&json!({"bio": "mine"})),
        stack.get("/artists/payout-addresses"),
        stack.post("/artists/payout-addresses").json(&json!({"address": "0x00000000000000000000000000000000000000a1"})),
        stack.delete("/artists/payout-addresses?address=0x00000000000000000000000000000000000000a1"),
        stack.get("/artists/activity"),
        stack.put("/notifications").json(&json!({})),
        stack.get("/transactions"),
        stack.get("/transactions/019a8b7c-5d4e-7f3a-9b2c-1d0e8f7a6b5c"),
        stack
            .post("/smartwallet/withdraw")
            .json(&json!({"to": "0x00000000000000000000000000000000000000a1", "amount": "1"})),
        stack.post("/oauth/logout"),
    ] {
        answers.push(Answer::of(request.bearer_auth(token)).await);
    }
    answers
}

#[tokio::test]
async fn signed_out_token_is_refused_by_every_endpoint() {
    let stack = Stack::connect();
    let first = stack.new_artist().await;
    let code = stack.code_for(&first.email).await;
    let answer = stack.log_in(&first.email, &code).await.expect_success();
    let token = answer.body["token"].as_str().expect("a token").to_owned();
    let second = SignedIn { token, ..first.clone() };

    stack.log_out(&first, &json!({})).await.expect_success();
    for answer in requests(&stack, &first.token).await {
        let answer = answer.expect_error(401);
        assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"moments\", error=\"invalid_token\"");
    }
    stack.list_keys(&second).await;
    stack.log_out(&second, &json!({"everywhere": "yes"})).await.expect_error(400);
    stack.log_out(&second, &json!({"everywhere": true})).await.expect_success();
    Answer::of(stack.get("/artists/api-keys").bearer_auth(&second.token)).await.expect_error(401);
    // Who signs in afterwards is let in.
    let code = stack.code_for(&first.email).await;
    let answer = stack.log_in(&first.email, &code).await.expect_success();
    let token = answer.body["token"].as_str().expect("a token").to_owned();
    stack.list_keys(&SignedIn { token, ..first }).await;
}
