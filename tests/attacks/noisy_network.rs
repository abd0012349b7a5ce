//! Somebody uses up what an office, or a carrier's address, may do: devices known there sign in nevertheless, by each way.

use alloy::signers::local::PrivateKeySigner;
use serde_json::{Value, json};
use tests::{HOUR, Sandbox, Stack, personal_sign, unused_email, unused_network, within_one_window};

/// A process of its own for an endpoint, whose networks may do next to nothing.
pub async fn strict(stack: &Stack, binary: &str) -> Sandbox {
    let limit = match binary {
        "send-code" => "CODES_PER_CLIENT_HOURLY",
        "challenge-sign-in" | "challenge-passkey-sign-in" => "CHALLENGES_PER_CLIENT_HOURLY",
        _ => "SIGN_INS_PER_CLIENT_HOURLY",
    };
    Sandbox::with_variables(stack, binary, &[(limit, "1"), ("TOKEN_ISSUER", &stack.map.api)]).await
}

/// Sends a JSON body from a client; the status and the answer.
pub async fn post(function: &Sandbox, client: &str, body: &Value) -> (u16, Value) {
    function.post_with(client, body, &[("content-type", "application/json")]).await
}

/// Sends a request until the network is refused.
async fn make_noise(function: &Sandbox, client: &str, junk: &Value) {
    for _ in 0..4 {
        if post(function, client, junk).await.0 == 429 {
            return;
        }
    }
    panic!("{client} is never refused {junk}");
}

/// What an endpoint answers to somebody who isn't refused.
async fn answered(function: &Sandbox, client: &str, body: &Value) -> Value {
    let (status, answer) = post(function, client, body).await;
    assert_eq!(status, 200, "{answer}");
    answer
}

#[tokio::test]
async fn known_device_signs_in_by_each_way_whatever_its_network_did() {
    let stack = Stack::connect();
    let network = unused_network();
    let (noise, client) = (format!("{network}::bad"), format!("{network}::1"));
    let email = unused_email();
    let device = stack.remember_device(&email).await;
    let artist = stack.sign_in(&email).await;
    let mut passkey = stack.added_passkey(&artist).await;
    let wallet = PrivateKeySigner::random();

    let send_code = strict(&stack, "send-code").await;
    let known = json!({"email": email, "deviceToken": device});
    let seen = stack.mails_to(&email).await.len();
    make_noise(&send_code, &noise, &json!({"email": unused_email()})).await;
    answered(&send_code, &client, &known).await;
    let code = local::mail::newest_code(&stack.map.mail, &email, seen).await.expect("a code");

    let log_in = strict(&stack, "log-in").await;
    make_noise(&log_in, &noise, &json!({"email": unused_email(), "code": "000000"})).await;
    answered(&log_in, &client, &json!({"email": email, "code": code, "deviceToken": device})).await;

    let use_link = strict(&stack, "use-link").await;
    let dead = stack.newest_link(&email).await;
    make_noise(&use_link, &noise, &json!({"link": dead})).await;
    answered(&send_code, &client, &known).await;
    answered(&use_link, &client, &json!({"link": stack.newest_link(&email).await})).await;

    let challenge = strict(&stack, "challenge-sign-in").await;
    let address = json!(wallet.address());
    make_noise(&challenge, &noise, &json!({"address": address})).await;
    let asked = json!({"address": address, "deviceToken": device});
    let message = answered(&challenge, &client, &asked).await["message"].as_str().expect("a message").to_owned();
    let use_wallet = strict(&stack, "use-wallet").await;
    let signature = personal_sign(&wallet, &message);
    make_noise(&use_wallet, &noise, &json!({"message": "junk", "signature": signature})).await;
    answered(&use_wallet, &client, &json!({"message": message, "signature": signature})).await;

    let challenge = strict(&stack, "challenge-passkey-sign-in").await;
    make_noise(&challenge, &noise, &json!({})).await;
    let begun = answered(&challenge, &client, &json!({"deviceToken": device})).await;
    let credential = passkey.sign(&begun["publicKey"]).expect("an answer");
    let use_passkey = strict(&stack, "use-passkey").await;
    let junk = json!({"ceremony": uuid::Uuid::new_v4().to_string(), "credential": credential});
    make_noise(&use_passkey, &noise, &junk).await;
    answered(&use_passkey, &client, &json!({"ceremony": begun["ceremony"], "credential": credential})).await;

    // A made-up device is none, and a known one has a limit, too.
    let made_up = json!({"deviceToken": "0".repeat(64)});
    let status = within_one_window(HOUR, async || {
        make_noise(&challenge, &noise, &json!({})).await;
        post(&challenge, &client, &made_up).await.0
    })
    .await;
    assert_eq!(status, 429);
    make_noise(&challenge, &client, &json!({"deviceToken": device})).await;
}
