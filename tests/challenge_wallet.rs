//! `POST /artists/wallets/challenge`, and the credentials of every endpoint that takes a token or a key.

use std::time::Instant;

use alloy::{primitives::Address, signers::local::PrivateKeySigner};
use serde_json::json;
use tests::{Answer, HOUR, Sandbox, Stack, unused_network, within_one_window};

#[tokio::test]
async fn message_names_the_site_the_wallet_and_the_artist() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let wallet = PrivateKeySigner::random().address();
    let message = stack.message_for(&artist, wallet).await;
    let host = stack.map.api.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/api")).expect("a host");
    let account: Address = artist.wallet.parse().expect("an address");
    assert!(message.starts_with(&format!("{host} wants you to sign in with your Ethereum account:\n{wallet}\n\n")));
    for part in [&format!("{account}"), "\nVersion: 1\n", "\nChain ID: 8453\n", &format!("\nURI: {}\n", stack.map.api)]
    {
        assert!(message.contains(part), "{part} is missing: {message}");
    }
    assert_ne!(message, stack.message_for(&artist, wallet).await, "a message came twice");

    let answer = stack.challenge(&artist, &json!({"address": wallet, "chainId": 1})).await.expect_success();
    assert!(answer.body["message"].as_str().is_some_and(|message| message.contains("\nChain ID: 1\n")), "{answer:?}");
    assert_eq!(answer.header("cache-control"), "no-store");
}

#[tokio::test]
async fn every_invalid_field_is_named() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let right = "0x540C18B7f99b3b599c6FeB99964498931c211858";
    for (body, fields) in [
        (json!({}), vec!["address"]),
        (json!({"address": "ada.eth", "chainId": 10}), vec!["address", "chainId"]),
        (json!({"address": right.replace('C', "c")}), vec!["address"]),
        (json!({"address": Address::ZERO}), vec!["address"]),
        (json!({"address": right, "chainId": "base"}), vec!["chainId"]),
    ] {
        let answer = stack.challenge(&artist, &body).await.expect_error(400);
        assert_eq!(answer.failing_fields(), fields, "{body}");
    }
}

#[tokio::test]
async fn twenty_first_message_in_ten_minutes_is_refused_with_retry_after() {
    let (stack, start) = (Stack::connect(), Instant::now());
    let artist = stack.new_artist().await;
    let body = json!({"address": PrivateKeySigner::random().address()});
    for _ in 0..20 {
        stack.challenge(&artist, &body).await.expect_success();
    }
    let answer = stack.challenge(&artist, &body).await.expect_error(429);
    let seconds: u64 = answer.header("retry-after").parse().expect("seconds");
    assert!((400 - start.elapsed().as_secs()..=610).contains(&seconds), "told to wait {seconds} s");
    stack.challenge(&stack.new_artist().await, &body).await.expect_success();
}

#[tokio::test]
async fn client_limit_spans_artists() {
    let stack = Stack::connect();
    let strict = Sandbox::with_variables(&stack, "challenge-wallet", &[("CHALLENGES_PER_CLIENT_HOURLY", "2")]).await;
    let body = json!({"address": PrivateKeySigner::random().address()});
    let ask = async |client: &str, token: &str| {
        strict.post_with(client, &body, &[("authorization", &format!("Bearer {token}"))]).await.0
    };
    let (first, second) = (stack.new_artist().await.token, stack.new_artist().await.token);
    let (admitted, refused, elsewhere) = within_one_window(HOUR, async || {
        let network = unused_network();
        let client = format!("{network}::1");
        let admitted = [ask(&client, &first).await, ask(&client, &second).await];
        let refused = [ask(&client, &first).await, ask(&client, &second).await];
        (admitted, refused, ask(&format!("{network}:1::1"), &first).await)
    })
    .await;
    assert_eq!((admitted, refused), ([200, 200], [429, 429]));
    assert_eq!(elsewhere, 200, "another client was refused");
}

#[tokio::test]
async fn wallets_and_profile_take_tokens_alone() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let key = stack.create_key(&artist, &json!({})).await.body["apiKey"].as_str().expect("a key").to_owned();
    let wallet = PrivateKeySigner::random().address();
    let requests = || {
        [
            stack.post("/artists/wallets/challenge").json(&json!({"address": wallet})),
            stack.post("/artists/wallets").json(&json!({"message": "x", "signature": "0x00"})),
            stack.delete(&format!("/artists/wallets?address={wallet}")),
            stack.patch("/artists/me").json(&json!({"bio": "hello"})),
        ]
    };
    for request in requests() {
        let answer = Answer::of(request.bearer_auth(&artist.token)).await;
        assert!(![401, 403].contains(&answer.status), "{answer:?}");
        assert_eq!(answer.header("cache-control"), "no-store");
    }
    for request in requests() {
        let answer = Answer::of(request).await.expect_error(401);
        assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"moments\"");
    }
    for request in requests() {
        let both = Answer::of(request.bearer_auth("wrong").header("x-api-key", &key)).await.expect_error(401);
        assert!(both.header("www-authenticate").contains("error=\"invalid_token\""), "{both:?}");
    }
    for request in requests() {
        let answer = Answer::of(request.header("x-api-key", &key)).await.expect_error(403);
        assert!(answer.body["message"].as_str().is_some_and(|words| words.contains("scope")), "{answer:?}");
    }
    let list = || stack.get("/artists/wallets");
    Answer::of(list().header("x-api-key", &key)).await.expect_success();
    Answer::of(list().bearer_auth(&artist.token)).await.expect_success();
    Answer::of(list().header("x-api-key", format!("{key}0"))).await.expect_error(401);
    let answer = Answer::of(list()).await.expect_error(401);
    assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"moments\", ApiKey realm=\"moments\"");
}
