//! Somebody has an artist's token: they withdraw to an address of their own, and hide it.

use alloy::{
    primitives::{Address, U256},
    providers::Provider,
};
use aws_sdk_dynamodb::types::AttributeValue;
use jsonwebtoken::get_current_timestamp;
use serde_json::json;
use tests::{Answer, Stack};

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
    let get = || Answer::of(stack.get("/artists/payout-addresses").bearer_auth(&victim.artist.token));
    assert_eq!(get().await.expect_success().body["addresses"][0], added.body);
    let path = format!("/artists/payout-addresses?address={thief:#x}");
    let remove = || Answer::of(stack.delete(&path).bearer_auth(&victim.artist.token));
    remove().await.expect_success();
    remove().await.expect_error(404);
    assert_eq!(get().await.expect_success().body, json!({"addresses": []}));

    let activity = Answer::of(stack.get("/artists/activity").bearer_auth(&victim.artist.token)).await.expect_success();
    let kinds: Vec<_> = activity.body["activity"].as_array().expect("a list").iter().map(|one| &one["kind"]).collect();
    assert_eq!(kinds, ["payout_removed", "payout_added", "key_created", "signed_in"]);
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
