//! Sign-in, what is an artist's own, and their webhooks.

use serde_json::{Value, json};

use super::support::Requests;

#[tokio::test]
async fn wrong_sign_in_says_which_field_and_why() {
    let requests = Requests::new().await;
    for (request, body, words) in [
        ("POST /oauth/code", json!({}), "email is required"),
        ("POST /oauth/code", json!({"mail": "ada@example.com"}), "mail is not a field here; did you mean email?"),
        ("POST /oauth/code", json!({"email": "ada"}), "email must be an e-mail address such as name@example.com"),
        (
            "POST /oauth/code",
            json!({"email": "ada@exa mple.com"}),
            "email must be an e-mail address such as name@example.com",
        ),
        ("POST /oauth/code", json!({"email": "Ada <ada@example.com>"}), "email must be an e-mail address such as"),
        ("POST /oauth/code", json!({"email": "ada@bücher.example"}), "xn--bcher-kva.example for bücher.example"),
        (
            "POST /oauth/code",
            json!({"email": "bücher@example.com"}),
            "email must have ASCII characters alone before the @",
        ),
        ("POST /oauth/code", json!({"email": ["ada@example.com"]}), "email must be a string"),
        ("POST /oauth/login", json!({"email": "ada@example.com"}), "code is required"),
        ("POST /oauth/login", json!({"email": "ada@example.com", "code": "12345"}), "code must be 6 digits"),
        ("POST /oauth/login", json!({"email": "ada@example.com", "code": "abcdef"}), "code must be 6 digits"),
        ("POST /oauth/login", json!({"email": "ada@example.com", "code": 123456}), "code must be a string"),
        (
            "POST /oauth/login",
            json!({"email": "ada@example.com", "code": "123456", "nonce": "1"}),
            "nonce must be 16 to 128 visible",
        ),
        (
            "POST /oauth/login",
            json!({"email": "ada@example.com", "code": "123456", "remember": "yes"}),
            "remember must be true or false",
        ),
        ("POST /oauth/link", json!({"link": "x"}), "link must be what stands behind #link= in the mail's link"),
        ("POST /oauth/wallet/challenge", json!({"address": "$zero"}), "address must not be the zero address"),
        (
            "POST /oauth/wallet/challenge",
            json!({"address": "$someone", "chainId": 137}),
            "configured for: see GET /chains",
        ),
    ] {
        requests.expect_words(request, &body, words).await;
    }
}

#[tokio::test]
async fn wrong_account_says_which_field_and_why() {
    let requests = Requests::new().await;
    for (request, body, words) in [
        ("PATCH /artists/me", json!({}), "Give at least one of username, bio,"),
        ("PATCH /artists/me", json!({"username": "support"}), "username is kept for the service: choose another"),
        ("PATCH /artists/me", json!({"username": "0xada"}), "username must not begin with 0x, as addresses do"),
        ("PATCH /artists/me", json!({"username": "ada lovelace"}), "username must be 3 to 32 letters, digits"),
        ("PATCH /artists/me", json!({"username": "аdа"}), "username must not mix letters of different alphabets"),
        (
            "PATCH /artists/me",
            json!({"bio": "a\u{7}"}),
            "bio must be at most 500 characters long, without control characters",
        ),
        ("PATCH /artists/me", json!({"twitter": "ada"}), "twitter is not a field here; did you mean twitter_username?"),
        ("PATCH /artists/me", json!({"twitter_username": "@ada"}), "without an"),
        (
            "PATCH /artists/me",
            json!({"links": ["example.com"]}),
            "links.0 must be a URL that starts with https:// or http://",
        ),
        ("PATCH /artists/me", json!({"links": ["https://"]}), "links.0 must be a URL with a host"),
        (
            "PATCH /artists/me",
            json!({"links": vec!["https://a.example"; 6]}),
            "links has too many entries: give at most 5",
        ),
        (
            "PATCH /artists/me",
            json!({"avatar": "https://example.com/x.png"}),
            "avatar must be the URI of an uploaded picture",
        ),
        ("DELETE /artists/wallets", Value::Null, "address is required"),
        (
            "POST /artists/payout-addresses",
            json!({"address": "ada.eth"}),
            "address must be an address: 0x and 40 hexadecimal",
        ),
        (
            "POST /artists/wallets",
            json!({"message": "Hello", "signature": "0xzz"}),
            "signature must be a signature: 0x and the hex",
        ),
        (
            "POST /smartwallet/withdraw",
            json!({"amount": "25", "to": "$someone"}),
            "give unit main if you mean that one, or unit wei",
        ),
        (
            "POST /smartwallet/withdraw",
            json!({"amount": "0.5", "to": "$someone"}),
            "amount must be a whole number unless unit is main",
        ),
        (
            "POST /smartwallet/withdraw",
            json!({"amount": "1,5", "unit": "main", "to": "$someone"}),
            "amount must be an amount, such as 25 or 0.5, or max",
        ),
        (
            "POST /smartwallet/withdraw",
            json!({"amount": "0.0000001", "unit": "main", "currency": "USDC", "to": "$someone"}),
            "ETH has 18, USDC has 6",
        ),
        (
            "POST /smartwallet/withdraw",
            json!({"amount": "1", "unit": "main", "currency": "DOGE", "to": "$someone"}),
            "currency must be ETH, USDC,",
        ),
        (
            "POST /smartwallet/withdraw",
            json!({"amount": "1", "unit": "main", "to": "$own"}),
            "to must not be your own account",
        ),
        ("POST /artists/api-keys", json!({"scopes": ["write"]}), "scopes.0 must be publish, collect or admin"),
        ("POST /artists/api-keys", json!({"scopes": []}), "scopes has too few entries: give at least 1"),
        ("POST /artists/api-keys", json!({"expiresInDays": 0}), "expiresInDays must be a whole number from 1 to 365"),
        ("POST /artists/api-keys", json!({"dailySpend": "1,000"}), "dailySpend must be an object with eth, usdc"),
        (
            "POST /artists/api-keys",
            json!({"dailySpend": {"eth": "1,000"}}),
            "dailySpend.eth must be an amount in the smallest unit",
        ),
        ("DELETE /artists/api-keys?keyId=1", Value::Null, "keyId must be a UUID"),
    ] {
        requests.expect_words(request, &body, words).await;
    }
}

#[tokio::test]
async fn wrong_webhook_says_which_part_and_why() {
    let requests = Requests::new().await;
    for (request, body, words) in [
        ("POST /webhooks", json!({}), "url is required"),
        ("POST /webhooks", json!({"url": "http://example.com/x"}), "url must begin with https://"),
        ("POST /webhooks", json!({"url": "example.com"}), "url must begin with https://"),
        ("POST /webhooks", json!({"url": "https://"}), "url must have a host"),
        ("POST /webhooks", json!({"url": "https://localhost/x"}), "a tunnel gives this machine one"),
        (
            "POST /webhooks",
            json!({"url": "https://127.0.0.1/x"}),
            "url must have a name as its host, such as example.com, and no IP",
        ),
        ("POST /webhooks", json!({"url": "https://example.com:8443/x"}), "url must have no port"),
        ("POST /webhooks", json!({"url": "https://a:b@example.com/"}), "url must have no user and no password"),
        ("POST /webhooks", json!({"url": "https://Example.com/x"}), "url must have its host in lower case"),
        ("POST /webhooks", json!({"url": "https://example.com/#x"}), "url must have no fragment"),
        (
            "POST /webhooks",
            json!({"url": "https://example.com/x", "types": ["moment.sold"]}),
            "types.0 must be a type of event, such as",
        ),
        ("POST /webhooks", json!({"url": "https://example.com/x", "types": "moment.created"}), "types must be a list"),
        (
            "POST /webhooks",
            json!({"url": "https://example.com/x", "collection": "0x1"}),
            "collection must be an address",
        ),
        ("PATCH /webhooks/1", json!({"active": true}), "id must be a UUID"),
    ] {
        requests.expect_words(request, &body, words).await;
    }
}
