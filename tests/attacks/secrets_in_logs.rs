//! Somebody reads the logs, of functions that log all that they can.

use serde_json::{Value, json};
use tests::{Sandbox, Stack, unused_email};

/// Runs a function once at `trace`; its answer's body and what it logged.
async fn traced(stack: &Stack, binary: &str, body: Value, headers: &[(&str, &str)]) -> (Value, String) {
    let sandbox = Sandbox::with_variables(stack, binary, &[("LOG_LEVEL", "trace")]).await;
    let (status, answer) = sandbox.post_with("192.0.2.91", &body, headers).await;
    assert!((200..300).contains(&status), "{binary}: {status} {answer}");
    (answer, sandbox.log())
}

#[tokio::test]
async fn no_code_key_token_or_address_is_logged_at_any_level() {
    let stack = Stack::connect();
    let email = unused_email();
    let (_, mut logs) = traced(&stack, "send-code", json!({"email": email}), &[]).await;
    let code = local::mail::newest_code(&stack.map.mail, &email, 0).await.expect("a code");
    let (signed_in, log) = traced(&stack, "log-in", json!({"email": email, "code": code}), &[]).await;
    logs.push_str(&log);
    let token = signed_in["token"].as_str().expect("a token").to_owned();
    let bearer = format!("Bearer {token}");
    let own = [("authorization", bearer.as_str())];
    let scopes = json!({"scopes": ["publish", "collect", "admin"]});
    let (made, log) = traced(&stack, "create-api-key", scopes, &own).await;
    logs.push_str(&log);
    let key = made["apiKey"].as_str().expect("a key").to_owned();
    let marked = json!({"ids": ["6c1f2f6e-6f0e-5b7e-9d8a-3f1c2b4d5e6f"]});
    let (_, log) = traced(&stack, "mark-notifications", marked, &[("x-api-key", &key)]).await;
    logs.push_str(&log);
    let (_, log) = traced(&stack, "log-out", json!({"everywhere": true}), &own).await;
    logs.push_str(&log);

    assert_eq!(logs.matches("request answered").count(), 5, "{logs}");
    let hash = alloy::hex::encode(<sha2::Sha256 as sha2::Digest>::digest(&key));
    let signature = token.rsplit('.').next().expect("three parts");
    for (what, secret) in
        [("address", email.as_str()), ("token", signature), ("key", &key), ("key's hash", &hash), ("code", &code)]
    {
        let lines: Vec<_> = logs.lines().filter(|line| mentions(line, secret)).collect();
        assert!(lines.is_empty(), "the {what} is logged: {lines:?}");
    }
}

/// Six digits of a code may stand in a longer number, or be a time's fraction of a second, by chance.
fn mentions(line: &str, secret: &str) -> bool {
    line.match_indices(secret).any(|(at, _)| {
        let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
        let (before, rest) = (&line.as_bytes()[..at], &line.as_bytes()[at..]);
        let is_part = is_digit(before.last()) || before.last() == Some(&b'.') || is_digit(rest.get(6));
        secret.len() > 6 || !is_part
    })
}
