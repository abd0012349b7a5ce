//! `GET /artists/{address}`

use alloy::signers::local::PrivateKeySigner;
use serde_json::{Value, json};
use tests::{Answer, Recorder, Sandbox, Stack};

#[tokio::test]
async fn artist_is_found_by_any_of_their_wallets() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let own = PrivateKeySigner::random();
    stack.connect_wallet(&artist, &own).await.expect_success();
    let own = format!("{:#x}", own.address());

    let answer = Answer::of(stack.get(&format!("/artists/{}", artist.wallet))).await.expect_success();
    assert!(answer.header("cache-control").contains("public"), "{answer:?}");
    let mut body = answer.body.clone();
    for time in ["created_at", "updated_at"] {
        let time = body.as_object_mut().expect("an object").remove(time).expect("a time");
        assert!(time.as_str().is_some_and(|time| time.ends_with('Z') && time.contains('T')), "{time}");
    }
    let id = body.as_object_mut().expect("an object").remove("artist_id").expect("an id");
    id.as_str().and_then(|id| uuid::Uuid::parse_str(id).ok()).expect("a UUID");
    assert_eq!(
        body,
        json!({
            "address": artist.wallet,
            "username": "",
            "page": format!("{}/a/{}", stack.map.api.trim_end_matches("/api"), artist.wallet),
            "bio": "",
            "avatar": null,
            "links": [],
            "instagram_username": "",
            "twitter_username": "",
            "telegram_username": "",
            "wallets": [{"address": artist.wallet, "type": "embedded"}, {"address": own, "type": "external"}],
        })
    );
    assert!(!answer.body.to_string().contains(&artist.email), "the mail address shows");

    for path in [own.clone(), own.to_uppercase().replace('X', "x"), own.replacen("0x", "%30%78", 1)] {
        assert_eq!(Answer::of(stack.get(&format!("/artists/{path}"))).await.expect_success().body, answer.body);
    }
}

#[tokio::test]
async fn artist_is_found_by_the_username_in_any_case() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let name = format!("named.{}", &uuid::Uuid::new_v4().simple().to_string()[..8]);
    let named = stack.patch("/artists/me").bearer_auth(&artist.token).json(&json!({"username": name}));
    Answer::of(named).await.expect_success();
    for path in [name.clone(), name.to_uppercase()] {
        let found = Answer::of(stack.get(&format!("/artists/{path}"))).await.expect_success();
        assert_eq!(found.body["address"], artist.wallet);
    }
}

#[tokio::test]
async fn unknown_artist_is_404_and_invalid_address_400() {
    let stack = Stack::connect();
    let nobody = PrivateKeySigner::random().address();
    Answer::of(stack.get(&format!("/artists/{nobody}"))).await.expect_error(404);
    Answer::of(stack.get("/artists/nobody.at.all")).await.expect_error(404);
    for path in ["0x1", "%20"] {
        let answer = Answer::of(stack.get(&format!("/artists/{path}"))).await;
        assert!([400, 405].contains(&answer.status), "{answer:?}");
    }
    let answer = Answer::of(stack.get("/artists/0x1")).await.expect_error(400);
    assert_eq!(answer.failing_fields(), ["address"]);
}

#[tokio::test]
async fn read_takes_two_database_calls() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let recorder = Recorder::in_front_of(&stack.map.dynamodb).await.expect("a recorder");
    let function = Sandbox::with_database(&stack, "read-artist", &recorder.url).await;
    let mut event: Value = function.event();
    event["pathParameters"]["address"] = json!(artist.wallet);
    assert_eq!(function.invoke(&event).await["statusCode"], 200);
    assert_eq!(recorder.take(), ["GetItem", "GetItem"]);
}
