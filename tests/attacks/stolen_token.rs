//! Somebody has an artist's token: they buy from themselves, withdraw, connect a wallet, give works away, make keys.

use alloy::{
    primitives::{Address, U256},
    providers::Provider,
    signers::local::PrivateKeySigner,
};
use aws_sdk_dynamodb::types::AttributeValue;
use jsonwebtoken::get_current_timestamp;
use serde_json::{Value, json};
use tests::{Answer, DAY, SignedIn, Stack, personal_sign, unused_email, within_one_window};
use uuid::Uuid;

use super::forged_token::Forger;

#[tokio::test]
async fn money_goes_to_no_address_that_is_new() {
    let stack = Stack::connect();
    let victim = stack.new_collector().await;
    stack.set_balance(victim.account, 1_000).await;
    let thief = Address::repeat_byte(0xee);
    let order = json!({"to": thief, "amount": "max"});
    let answer = stack.withdraw(&victim.artist, &order).await.expect_error(403);
    assert!(answer.body["message"].as_str().is_some_and(|words| words.contains("payout")), "{answer:?}");
    let added = stack.add_payout_address(&victim.artist, thief).await.expect_success();
    assert_eq!(added.body["address"], format!("{thief:#x}"));
    let answer = stack.withdraw(&victim.artist, &order).await.expect_error(403);
    assert!(answer.body["message"].as_str().is_some_and(|words| words.contains("lately")), "{answer:?}");
    assert_eq!(stack.chain().get_balance(victim.account).await.expect("a balance"), U256::from(1_000));

    // The owner is told by mail, sees it and takes it back.
    let mails = stack.mails_to(&victim.artist.email).await;
    let notice = mails.last().expect("a notice");
    assert!(notice.body_text.contains(&format!("{thief:#x}")) && notice.body_text.contains("127.0.0.1"), "{notice:?}");
    assert!(notice.body_text.contains("/manage") && notice.body_text.contains("ever ask you for a code"), "{notice:?}");
    assert!(
        notice.body_html.contains(&format!("{thief:#x}")) && notice.body_html.contains("ask you for a code"),
        "{notice:?}"
    );
    let get = || Answer::of(stack.get("/artists/payout-addresses").bearer_auth(&victim.artist.token));
    assert_eq!(get().await.expect_success().body["addresses"][0], added.body);
    let path = format!("/artists/payout-addresses?address={thief:#x}");
    let remove = || Answer::of(stack.delete(&path).bearer_auth(&victim.artist.token));
    remove().await.expect_success();
    remove().await.expect_error(404);
    assert_eq!(get().await.expect_success().body, json!({"addresses": []}));

    let activity = Answer::of(stack.get("/artists/activity").bearer_auth(&victim.artist.token)).await.expect_success();
    let kinds: Vec<_> = activity.body["activity"].as_array().expect("a list").iter().map(|one| &one["kind"]).collect();
    assert_eq!(kinds, ["payout_removed", "payout_added", "powerful_key_created", "signed_in"]);
    assert_eq!(activity.body["activity"][1]["subject"], format!("{thief:#x}"));
    let page = stack.get("/artists/activity?limit=1").bearer_auth(&victim.artist.token);
    let page = Answer::of(page).await.expect_success();
    assert_eq!(page.body["activity"].as_array().map(Vec::len), Some(1));
    let next = page.header("link").trim_start_matches('<').split('>').next().expect("a link").to_owned();
    let next = Answer::of(stack.get(&format!("/artists/activity{next}")).bearer_auth(&victim.artist.token)).await;
    assert_eq!(next.body["activity"][0]["kind"], "payout_added");
}

#[tokio::test]
async fn address_keeps_its_time_when_it_is_added_again() {
    let stack = Stack::connect();
    let victim = stack.new_collector().await;
    let address = Address::repeat_byte(0x51);
    let partition = format!("PAYOUTS#{}", stack.artist_id(&victim.artist));
    let first = stack.add_payout_address(&victim.artist, address).await.expect_success();
    let table = &stack.map.names["ArtistTable"];
    stack.set(table, &partition, &format!("{address:#x}"), "added_at", AttributeValue::N("1700000000".into())).await;
    let again = stack.add_payout_address(&victim.artist, address).await.expect_success();
    assert_eq!(again.body["added_at"], "2023-11-14T22:13:20Z");
    assert_ne!(again.body, first.body);
    for number in 1..20_u8 {
        stack.add_payout_address(&victim.artist, Address::repeat_byte(0x60 + number)).await.expect_success();
    }
    stack.add_payout_address(&victim.artist, Address::repeat_byte(0x99)).await.expect_error(409);
}

#[tokio::test]
async fn token_of_a_quarter_of_an_hour_ago_moves_no_money_and_deletes_no_account() {
    let stack = Stack::connect();
    let victim = stack.new_collector().await;
    let forger = Forger::new(&stack, &victim.artist).await;
    let now = get_current_timestamp();
    let aged = async |age: u64| forger.sign(|_, claims| claims["iat"] = json!(now - age)).await;
    let (old, young) = (aged(901).await, aged(800).await);
    let to = Address::repeat_byte(0x77);
    let requests = |token: &str| {
        [
            stack.post("/smartwallet/withdraw").header("idempotency-key", "1").json(&json!({"to": to, "amount": "1"})),
            stack.post("/artists/payout-addresses").json(&json!({"address": to})),
            stack.delete("/artists/me").json(&json!({"abandon": true})),
        ]
        .map(|request| request.bearer_auth(token))
    };
    for request in requests(&old) {
        let answer = Answer::of(request).await.expect_error(401);
        let challenge = "Bearer error=\"insufficient_user_authentication\", max_age=\"900\"";
        assert_eq!(answer.header("www-authenticate"), challenge);
    }
    Answer::of(stack.get("/artists/wallets").bearer_auth(&old)).await.expect_success();
    let [_, add, _] = requests(&young);
    Answer::of(add).await.expect_success();
}

/// The artist's token, as if of a sign-in 16 minutes ago.
pub(super) async fn old_token(stack: &Stack, artist: &SignedIn) -> String {
    let issued_at = get_current_timestamp() - 16 * 60;
    Forger::new(stack, artist).await.sign(|_, claims| claims["iat"] = json!(issued_at)).await
}

async fn post(stack: &Stack, path: &str, token: &str, body: &Value) -> Answer {
    Answer::of_write(stack.post(path).bearer_auth(token).json(body)).await
}

async fn activity(stack: &Stack, artist: &SignedIn, query: &str) -> Vec<Value> {
    let request = stack.get(&format!("/artists/activity{query}")).bearer_auth(&artist.token);
    Answer::of(request).await.expect_success().body["activity"].as_array().expect("a list").clone()
}

async fn kinds(stack: &Stack, artist: &SignedIn) -> Vec<Value> {
    activity(stack, artist, "").await.into_iter().map(|one| one["kind"].clone()).collect()
}

#[tokio::test]
async fn old_tokens_spend_a_keys_default_a_day_and_no_more() {
    let stack = Stack::connect();
    let thief = stack.new_collector().await;
    // Two fit into the daily default of 0.01 ETH, three don't.
    let price = "4500000000000000";
    let sale = json!({"type": "fixedPrice", "pricePerToken": price, "saleStart": 0, "saleEnd": u64::MAX.to_string()});
    let collection = stack.publish(&thief.key, sale, json!({})).await;
    let order = |amount: u64| json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "amount": amount});
    let collect = async |token: &str, amount: u64| post(&stack, "/moment/collect", token, &order(amount)).await;

    let (victim, too_many, fitting, third) = within_one_window(DAY, async || {
        let victim = stack.new_collector().await;
        stack.set_balance(victim.account, 1_000_000_000_000_000_000).await;
        let old = old_token(&stack, &victim.artist).await;
        let (too_many, first) = (collect(&old, 3).await, collect(&old, 1).await);
        // Another token of the same artist doesn't start anew.
        let other = old_token(&stack, &stack.sign_in(&victim.artist.email).await).await;
        let second = collect(&other, 1).await;
        (victim, too_many, [first, second], collect(&old, 1).await)
    })
    .await;
    let refused = too_many.expect_error(401);
    assert!(refused.header("www-authenticate").contains("insufficient_user_authentication"), "{refused:?}");
    for answer in fitting {
        answer.expect_success();
    }
    third.expect_error(401);
    assert_eq!(stack.tokens_of(victim.account, collection).await, U256::from(2));
    let bought = activity(&stack, &victim.artist, "?works=true").await;
    assert_eq!(bought.iter().filter(|one| one["kind"] == "purchased").count(), 2, "{bought:?}");
    let told = kinds(&stack, &victim.artist).await;
    assert!(!told.contains(&json!("collected")), "{told:?}");

    // Who signed in just now buys more, and is told.
    collect(&victim.artist.token, 3).await.expect_success();
    assert_eq!(kinds(&stack, &victim.artist).await[0], "collected");
    let mails = stack.mails_to(&victim.artist.email).await;
    assert!(mails.last().is_some_and(|mail| mail.body_text.contains("large amount")), "{mails:?}");
}

#[tokio::test]
async fn wallet_takes_a_fresh_sign_in_and_is_paid_after_a_day() {
    let stack = Stack::connect();
    let victim = stack.new_collector().await;
    stack.set_balance(victim.account, 1_000).await;
    let thief = PrivateKeySigner::random();
    let old = old_token(&stack, &victim.artist).await;
    let message = stack.message_for(&victim.artist, thief.address()).await;
    let proof = json!({"message": message, "signature": personal_sign(&thief, &message)});
    post(&stack, "/artists/wallets", &old, &proof).await.expect_error(401);
    post(&stack, "/artists/wallets", &victim.artist.token, &proof).await.expect_success();
    // A new name doesn't make the wallet older.
    let name = json!({"username": format!("w{}", &Uuid::new_v4().simple().to_string()[..10])});
    Answer::of(stack.patch("/artists/me").bearer_auth(&victim.artist.token).json(&name)).await.expect_success();
    let order = json!({"to": thief.address(), "amount": "max"});
    let answer = stack.withdraw(&victim.artist, &order).await.expect_error(403);
    assert!(answer.body["message"].as_str().is_some_and(|words| words.contains("lately")), "{answer:?}");
    assert_eq!(stack.chain().get_balance(victim.account).await.expect("a balance"), U256::from(1_000));

    let row = format!("WALLET#{:#x}", thief.address());
    let connected = async |age: u64| {
        let at = AttributeValue::N((get_current_timestamp() - age).to_string());
        stack.set(&stack.map.names["ArtistTable"], &row, "ARTIST", "connected_at", at).await;
    };
    connected(DAY.as_secs() - 600).await;
    stack.withdraw(&victim.artist, &order).await.expect_error(403);
    connected(DAY.as_secs()).await;
    stack.withdraw(&victim.artist, &order).await.expect_success();
    assert_eq!(stack.chain().get_balance(thief.address()).await.expect("a balance"), U256::from(1_000));
}

#[tokio::test]
async fn token_and_mailbox_do_nothing_that_takes_a_passkey() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    stack.added_passkey(&writer.artist).await;
    let thief = stack.sign_in(&writer.artist.email).await;
    let to = PrivateKeySigner::random().address();
    let moment = json!({"collectionAddress": writer.collection, "tokenId": "1"});
    for (path, body) in [
        ("/smartwallet/withdraw", json!({"to": to, "amount": "1"})),
        ("/artists/payout-addresses", json!({"address": to})),
        ("/artists/email", stack.proved_email(&thief, &unused_email()).await),
        ("/artists/api-keys", json!({"scopes": ["admin"]})),
        ("/moment/permission", json!({"moment": moment, "adminAddress": to})),
    ] {
        let answer = post(&stack, path, &thief.token, &body).await.expect_error(401);
        assert!(answer.header("www-authenticate").contains("insufficient_user_authentication"), "{path}: {answer:?}");
    }
    let answer = stack.connect_wallet(&thief, &PrivateKeySigner::random()).await.expect_error(401);
    assert!(answer.header("www-authenticate").contains("insufficient_user_authentication"), "{answer:?}");
    let delete = stack.delete("/artists/me").bearer_auth(&thief.token).json(&json!({"abandon": true}));
    Answer::of(delete).await.expect_error(401);
}

#[tokio::test]
async fn grant_takes_a_fresh_sign_in_and_is_told() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let old = old_token(&stack, &writer.artist).await;
    let thief = Address::repeat_byte(0xee);
    let whole = json!({"adminAddress": thief});
    let whole_path = format!("/collections/eip155:8453/erc1155:{:#x}/admins", writer.collection);
    let moment = json!({"moment": {"collectionAddress": writer.collection, "tokenId": "1"}, "adminAddress": thief});
    for (path, body) in [("/moment/permission", &moment), (whole_path.as_str(), &whole)] {
        post(&stack, path, &old, body).await.expect_error(401);
        post(&stack, path, &writer.artist.token, body).await.expect_success();
        assert_eq!(kinds(&stack, &writer.artist).await[0], "admin_granted", "{path}");
        let mails = stack.mails_to(&writer.artist.email).await;
        let notice = &mails.last().expect("a notice").body_text;
        assert!(notice.contains(&format!("{thief:#x}")), "{notice}");
    }
    // A token of any sign-in takes them away.
    let of_moment = stack.delete("/moment/permission").json(&moment);
    let of_whole = stack.delete(&format!("{whole_path}?adminAddress={thief:#x}"));
    for (request, place) in [(of_moment, "moment"), (of_whole, "collection")] {
        Answer::of_write(request.bearer_auth(&old)).await.expect_success();
        let newest = activity(&stack, &writer.artist, "?limit=1").await.remove(0);
        assert_eq!(newest["kind"], "admin_revoked", "{place}");
        let subject = newest["subject"].as_str().expect("a text");
        assert!(subject.starts_with(&format!("{thief:#x} for {place} ")), "{subject}");
    }
}

#[tokio::test]
async fn what_an_old_token_publishes_edits_and_sells_elsewhere_is_seen_and_hides_nothing_else() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let before = kinds(&stack, &writer.artist).await;
    let old = old_token(&stack, &writer.artist).await;
    let thief = Address::repeat_byte(0xee);
    let moment = json!({"collectionAddress": writer.collection, "tokenId": "1"});
    let redirect = json!({"moment": moment, "fundsRecipient": thief});
    post(&stack, "/sale", &old, &redirect).await.expect_success();
    let edit = json!({"moment": moment, "newUri": "ar://other"});
    post(&stack, "/registry/metadata/moment", &old, &edit).await.expect_success();
    let sale = json!({"type": "fixedPrice", "pricePerToken": "0", "saleStart": 0, "saleEnd": u64::MAX.to_string()});
    let publication = json!({
        "contract": {"address": writer.collection},
        "token": {"tokenMetadataURI": "ar://new", "salesConfig": sale},
    });
    post(&stack, "/moment/create", &old, &publication).await.expect_success();
    assert_eq!(kinds(&stack, &writer.artist).await, before);
    let newest = activity(&stack, &writer.artist, "?works=true&limit=3").await;
    assert_eq!(newest.iter().map(|one| &one["kind"]).collect::<Vec<_>>(), ["published", "edited", "sale_changed"]);
    let place = format!("8453#{:#x}", writer.collection);
    assert_eq!(
        newest.iter().map(|one| &one["subject"]).collect::<Vec<_>>(),
        [&format!("{place}#0"), &format!("{place}#1"), &format!("{place}#1, which pays {thief:#x}")]
    );
}

#[tokio::test]
async fn powerful_key_takes_a_fresh_sign_in_and_every_key_ends() {
    let stack = Stack::connect();
    let victim = stack.new_artist().await;
    let old = old_token(&stack, &victim).await;
    for body in [
        json!({"scopes": ["admin"]}),
        json!({"dailySpend": {"eth": "10000000000000001"}}),
        json!({"dailySpend": {"usdc": "25000001"}}),
    ] {
        post(&stack, "/artists/api-keys", &old, &body).await.expect_error(401);
        post(&stack, "/artists/api-keys", &victim.token, &body).await.expect_success();
    }
    post(&stack, "/artists/api-keys", &old, &json!({})).await.expect_success();
    let keys = stack.list_keys(&victim).await;
    assert!(keys.iter().all(|key| key["expires_at"].is_string()), "{keys:?}");
}

#[tokio::test]
async fn redirected_webhook_is_told_without_its_path() {
    let stack = Stack::connect();
    let victim = stack.new_artist().await;
    let made = post(&stack, "/webhooks", &victim.token, &json!({"url": "https://hooks.example/own"})).await;
    let id = made.expect_success().body["webhook"]["id"].as_str().expect("an id").to_owned();
    let change = json!({"url": "https://thief.example/secret-path"});
    let request = stack.patch(&format!("/webhooks/{id}")).bearer_auth(&victim.token).json(&change);
    Answer::of(request).await.expect_success();
    assert_eq!(kinds(&stack, &victim).await[0], "webhook_changed");
    let mails = stack.mails_to(&victim.email).await;
    let notice = &mails.last().expect("a notice").body_text;
    assert!(notice.contains("thief.example") && !notice.contains("secret-path"), "{notice}");
}
