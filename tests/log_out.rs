//! `POST /oauth/logout`: one's own session, another one, everything.

use serde_json::{Value, json};
use tests::{Answer, SignedIn, Stack, unused_email};

async fn activity(stack: &Stack, artist: &SignedIn) -> Value {
    Answer::of(stack.get("/artists/activity").bearer_auth(&artist.token)).await.expect_success().body
}

async fn sessions(stack: &Stack, artist: &SignedIn) -> Vec<Value> {
    activity(stack, artist).await["sessions"].as_array().expect("sessions").clone()
}

#[tokio::test]
async fn sessions_are_listed_and_ended_one_by_one() {
    let stack = Stack::connect();
    let email = unused_email();
    let (phone, laptop) = (stack.sign_in(&email).await, stack.sign_in(&email).await);
    let listed = sessions(&stack, &laptop).await;
    let current: Vec<_> = listed.iter().map(|session| session["isCurrent"].as_bool().expect("a flag")).collect();
    assert_eq!(current, [true, false], "{listed:?}");
    for session in &listed {
        assert_eq!(session["network"], "127.0.0.1", "{session}");
        assert!(session["expires"].as_str() > session["since"].as_str(), "{session}");
    }
    let id = listed[1]["id"].as_str().expect("an id");
    let end = async |artist: &SignedIn| stack.log_out(artist, &json!({"sessionId": id})).await;
    end(&stack.new_artist().await).await.expect_error(404);
    end(&laptop).await.expect_success();
    Answer::of(stack.get("/me").bearer_auth(&phone.token)).await.expect_error(401);
    let left = sessions(&stack, &laptop).await;
    assert_eq!(left, listed[..1], "the one that is used");
    let newest = &activity(&stack, &laptop).await["activity"][0];
    assert_eq!((newest["kind"].as_str(), newest["subject"].as_str()), (Some("signed_out"), Some(id)), "{newest}");
}

#[tokio::test]
async fn keys_and_devices_end_with_everything_where_that_is_asked_for() {
    let stack = Stack::connect();
    let email = unused_email();
    let code = stack.code_for(&email).await;
    let known = stack.post_json("/oauth/login", &json!({"email": email, "code": code, "remember": true})).await;
    let text = |field: &str| known.body[field].as_str().expect(field).to_owned();
    let artist = SignedIn { email: email.clone(), token: text("token"), wallet: text("social_wallet") };
    let key = stack.create_key(&artist, &json!({"name": "site"})).await.expect_success();
    let key = key.body["apiKey"].as_str().expect("a key").to_owned();
    let use_key = || Answer::of(stack.get("/transactions").header("x-api-key", &key));

    stack.log_out(&artist, &json!({"everywhere": true})).await.expect_success();
    use_key().await.expect_success();
    let artist = stack.sign_in(&email).await;
    assert_eq!(sessions(&stack, &artist).await.len(), 1);
    assert_eq!(activity(&stack, &artist).await["devices"].as_array().map(Vec::len), Some(1));

    stack.log_out(&artist, &json!({"everywhere": true, "apiKeys": true, "devices": true})).await.expect_success();
    use_key().await.expect_error(401);
    let artist = stack.sign_in(&email).await;
    assert!(stack.list_keys(&artist).await.is_empty());
    assert_eq!(activity(&stack, &artist).await["devices"], json!([]));
}

#[tokio::test]
async fn fields_that_would_do_nothing_are_named() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let id = sessions(&stack, &artist).await[0]["id"].clone();
    for (body, field) in [
        (json!({"sessionId": id, "everywhere": true}), "sessionId"),
        (json!({"sessionId": "phone"}), "sessionId"),
        (json!({"apiKeys": true}), "apiKeys"),
        (json!({"devices": true, "sessionId": id}), "devices"),
        (json!({"devices": "yes"}), "devices"),
    ] {
        let answer = stack.log_out(&artist, &body).await.expect_error(400);
        assert_eq!(answer.failing_fields(), [field], "{body}");
    }
    sessions(&stack, &artist).await;
}
