//! `POST /oauth/wallet/challenge` and `POST /oauth/wallet`

use alloy::{
    primitives::{Address, address},
    signers::local::PrivateKeySigner,
};
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use sha2::{Digest, Sha256};
use tests::{
    Answer, HOUR, Sandbox, SignedIn, Stack, UndeployedSafe, personal_sign, safe_of, sign_as_safe, token_part,
    unused_address, within_one_window,
};

/// An unlocked account that no other test sends from.
const SENDER: Address = address!("23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f");

const CHAIN: u64 = 8453;

async fn send(stack: &Stack, message: &str, signature: &str) -> Answer {
    Answer::of(stack.post("/oauth/wallet").json(&json!({"message": message, "signature": signature}))).await
}

#[tokio::test]
async fn new_wallet_makes_an_artist_who_can_do_what_others_can() {
    let stack = Stack::connect();
    let wallet = PrivateKeySigner::random();
    let message = stack.sign_in_message(wallet.address(), CHAIN).await;
    assert!(message.contains("Sign in as the artist whose wallet this is."), "{message}");
    let answer = send(&stack, &message, &personal_sign(&wallet, &message)).await.expect_success();
    assert_eq!(tests::fields(&answer.body), ["social_wallet", "token"]);
    let artist = SignedIn::without_mail(&answer);
    let wallets = stack.wallets(&artist).await;
    let expected = [
        json!({"address": artist.wallet, "type": "embedded"}),
        json!({"address": format!("{:#x}", wallet.address()), "type": "external"}),
    ];
    assert_eq!(wallets, expected);

    assert_eq!(stack.sign_in_with_wallet(&wallet).await.wallet, artist.wallet, "a second sign-in is another artist's");
    let name = format!("walleted{}", &uuid::Uuid::new_v4().simple().to_string()[..8]);
    let named = stack.patch("/artists/me").bearer_auth(&artist.token).json(&json!({"username": name}));
    Answer::of(named).await.expect_success();
    let found = Answer::of(stack.get(&format!("/artists/{:#x}", wallet.address()))).await.expect_success();
    assert_eq!(found.body["username"], json!(name));
    let activity = Answer::of(stack.get("/artists/activity").bearer_auth(&artist.token)).await.expect_success();
    assert_eq!(activity.body["activity"][0]["kind"], "signed_in", "{activity:?}");
    assert_eq!(activity.body["devices"], json!([]));
    let key = stack.create_key(&artist, &json!({"name": "by wallet"})).await.expect_success();
    let collection =
        stack.release(key.body["apiKey"].as_str().expect("a key"), "By wallet", &["ar://by-wallet".to_owned()]).await;
    assert!(collection.starts_with("0x"), "{collection}");
}

#[tokio::test]
async fn connected_wallet_signs_its_artist_in_and_not_once_it_is_disconnected() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let wallet = PrivateKeySigner::random();
    stack.connect_wallet(&artist, &wallet).await.expect_success();
    assert_eq!(stack.sign_in_with_wallet(&wallet).await.wallet, artist.wallet);

    let path = format!("/artists/wallets?address={:#x}", wallet.address());
    Answer::of(stack.delete(&path).bearer_auth(&artist.token)).await.expect_success();
    assert_ne!(stack.sign_in_with_wallet(&wallet).await.wallet, artist.wallet);
}

#[tokio::test]
async fn wallet_of_today_signs_in_without_a_recent_sign_ins_power() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let (today, old, founding) = (PrivateKeySigner::random(), PrivateKeySigner::random(), PrivateKeySigner::random());
    stack.connect_wallet(&artist, &today).await.expect_success();
    stack.connect_old_wallet(&artist, &old).await;
    let may = async |wallet: &PrivateKeySigner| {
        let artist = stack.sign_in_with_wallet(wallet).await;
        let me = Answer::of(stack.get("/me").bearer_auth(&artist.token)).await.expect_success();
        let added = stack.add_payout_address(&artist, PrivateKeySigner::random().address()).await;
        (me.body["fresh_until"].is_string(), added.status)
    };
    assert_eq!(may(&today).await, (false, 401));
    assert_eq!(may(&old).await, (true, 200));
    assert_eq!(may(&founding).await, (true, 200), "the account began with it");
    let id = stack.artist_id(&artist);
    assert_eq!(token_part(&stack.sign_in_with_wallet(&today).await.token, 1)["sub"], json!(id));
}

#[tokio::test]
async fn contract_wallet_signs_in_on_the_chain_where_it_was_connected_alone() {
    let stack = Stack::connect();
    let owner = PrivateKeySigner::random();
    let safe = safe_of(&stack, SENDER, owner.address()).await;
    let message = stack.sign_in_message(safe, CHAIN).await;
    send(&stack, &message, &personal_sign(&owner, &message)).await.expect_error(401);
    let signature = sign_as_safe(&stack, safe, &owner, &message).await;
    let artist = SignedIn::without_mail(&send(&stack, &message, &signature).await.expect_success());
    assert_eq!(stack.wallets(&artist).await[1], json!({"address": format!("{safe:#x}"), "type": "smart"}));
    let message = stack.sign_in_message(safe, CHAIN).await;
    let signature = sign_as_safe(&stack, safe, &owner, &message).await;
    assert_eq!(
        SignedIn::without_mail(&send(&stack, &message, &signature).await.expect_success()).wallet,
        artist.wallet
    );

    // As if somebody else had a contract at this address on the chain that signs now.
    let row = format!("WALLET#{safe:#x}");
    stack.set("ArtistTable", &row, "ARTIST", "chain", AttributeValue::N("10".to_owned())).await;
    let message = stack.sign_in_message(safe, CHAIN).await;
    let signature = sign_as_safe(&stack, safe, &owner, &message).await;
    let refused = send(&stack, &message, &signature).await.expect_error(403);
    assert!(refused.body["message"].as_str().is_some_and(|words| words.contains("another chain")), "{refused:?}");
}

#[tokio::test]
async fn wallet_that_is_not_deployed_yet_signs_in_with_its_deployment() {
    let stack = Stack::connect();
    let safe = UndeployedSafe::new(&stack).await;
    let message = stack.sign_in_message(safe.address, CHAIN).await;
    let stranger = PrivateKeySigner::random();
    send(&stack, &message, &safe.sign(CHAIN, &message, Some(&stranger))).await.expect_error(401);
    send(&stack, &message, &safe.sign(CHAIN, "another text", None)).await.expect_error(401);
    let other = UndeployedSafe::new(&stack).await;
    send(&stack, &message, &other.sign(CHAIN, &message, None)).await.expect_error(401);
    let artist =
        SignedIn::without_mail(&send(&stack, &message, &safe.sign(CHAIN, &message, None)).await.expect_success());
    assert_eq!(stack.wallets(&artist).await[1], json!({"address": format!("{:#x}", safe.address), "type": "smart"}));
}

#[tokio::test]
async fn contract_wallets_are_limited_by_network_since_a_node_is_asked() {
    let stack = Stack::connect();
    let (safe, key) = (UndeployedSafe::new(&stack).await, PrivateKeySigner::random());
    let limits = [("SIGN_INS_PER_CLIENT_HOURLY", "1"), ("TOKEN_ISSUER", stack.map.api.as_str())];
    let strict = Sandbox::with_variables(&stack, "use-wallet", &limits).await;
    let statuses = within_one_window(HOUR, async || {
        let client = unused_address();
        let sign_in = async |message: &str, signature: &str| {
            strict.post(&client, &json!({"message": message, "signature": signature})).await.0
        };
        let mut statuses = Vec::new();
        for _ in 0..2 {
            let message = stack.sign_in_message(safe.address, CHAIN).await;
            statuses.push(sign_in(&message, &safe.sign(CHAIN, &message, None)).await);
        }
        let message = stack.sign_in_message(key.address(), CHAIN).await;
        statuses.push(sign_in(&message, &personal_sign(&key, &message)).await);
        statuses
    })
    .await;
    assert_eq!(statuses, [200, 429, 200]);
}

#[tokio::test]
async fn used_altered_foreign_and_expired_messages_are_refused() {
    let stack = Stack::connect();
    let (wallet, stranger) = (PrivateKeySigner::random(), PrivateKeySigner::random());
    let message = stack.sign_in_message(wallet.address(), CHAIN).await;
    send(&stack, &message, &personal_sign(&stranger, &message)).await.expect_error(401);
    for (from, to) in [("Chain ID: 8453", "Chain ID: 1"), ("127.0.0.1", "evil.example"), ("Nonce: ", "Nonce: 0")] {
        let altered = message.replace(from, to);
        assert_ne!(altered, message);
        send(&stack, &altered, &personal_sign(&wallet, &altered)).await.expect_error(401);
    }
    let signature = personal_sign(&wallet, &message);
    let (first, second) = futures::join!(send(&stack, &message, &signature), send(&stack, &message, &signature));
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 401], "{first:?} {second:?}");
    let refused = send(&stack, &message, &signature).await.expect_error(401);
    assert!(refused.header("www-authenticate").starts_with("Bearer"), "{refused:?}");

    // A message to connect a wallet signs nobody in, and one to sign in connects nothing.
    let artist = stack.new_artist().await;
    let to_connect = stack.message_for(&artist, wallet.address()).await;
    send(&stack, &to_connect, &personal_sign(&wallet, &to_connect)).await.expect_error(401);
    let to_sign_in = stack.sign_in_message(stranger.address(), CHAIN).await;
    let proved = stack.prove(&artist, &to_sign_in, &personal_sign(&stranger, &to_sign_in)).await;
    proved.expect_error(400);
    let row = format!("CHALLENGE#{:x}", Sha256::digest(&to_sign_in));
    stack.set("SecretTable", &row, "CHALLENGE", "expires_at", AttributeValue::N("1".to_owned())).await;
    send(&stack, &to_sign_in, &personal_sign(&stranger, &to_sign_in)).await.expect_error(401);
}

#[tokio::test]
async fn account_of_the_service_signs_nobody_in() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let wallet = PrivateKeySigner::random();
    stack.connect_wallet(&artist, &wallet).await.expect_success();
    let row = format!("WALLET#{:#x}", wallet.address());
    stack.set("ArtistTable", &row, "ARTIST", "type", AttributeValue::S("embedded".to_owned())).await;
    let message = stack.sign_in_message(wallet.address(), CHAIN).await;
    send(&stack, &message, &personal_sign(&wallet, &message)).await.expect_error(403);
}

#[tokio::test]
async fn first_sign_ins_at_once_make_one_artist() {
    let stack = Stack::connect();
    let wallet = PrivateKeySigner::random();
    let artists = futures::future::join_all((0..4).map(|_| stack.sign_in_with_wallet(&wallet))).await;
    assert!(artists.iter().all(|artist| artist.wallet == artists[0].wallet), "one wallet has several artists");
}

#[tokio::test]
async fn artist_without_a_mail_address_is_exported_and_erased() {
    let stack = Stack::connect();
    let wallet = PrivateKeySigner::random();
    let artist = stack.sign_in_with_wallet(&wallet).await;
    let export = Answer::of(stack.get("/artists/me/export").bearer_auth(&artist.token)).await.expect_success();
    assert!(export.body["rows"].as_array().is_some_and(|rows| !rows.is_empty()), "{export:?}");
    let id = stack.artist_id(&artist);
    let asked = stack.delete("/artists/me").bearer_auth(&artist.token).json(&json!({}));
    Answer::of(asked).await.expect_success();

    let run = async |field: &str| {
        stack.set("ArtistTable", "DELETIONS", &id, field, AttributeValue::N("1700000000".to_owned())).await;
        stack.work("erase-artists").await;
    };
    run("due_at").await;
    let message = stack.sign_in_message(wallet.address(), CHAIN).await;
    send(&stack, &message, &personal_sign(&wallet, &message)).await.expect_error(409);
    run("begun_at").await;
    assert_eq!(stack.row("ArtistTable", "DELETIONS", &id).await, None);
    assert_ne!(stack.sign_in_with_wallet(&wallet).await.wallet, artist.wallet, "an erased account is back");
}
