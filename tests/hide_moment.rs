//! `POST /moment/hide`, and the timelines that follow.

use serde_json::{Value, json};
use tests::{Answer, Stack, document};

async fn tokens(stack: &Stack, query: &str) -> Vec<String> {
    let body = Answer::of(stack.get(&format!("/timeline?{query}"))).await.expect_success().body;
    let moments = body["moments"].as_array().expect("moments");
    moments.iter().map(|moment| moment["token_id"].as_str().expect("an id").to_owned()).collect()
}

async fn hide(stack: &Stack, key: &str, collection: &str, token: &str, more: Value) -> Answer {
    let mut body = json!({"moment": {"collectionAddress": collection, "tokenId": token}});
    body.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
    Answer::of(stack.post("/moment/hide").header("x-api-key", key).json(&body)).await
}

fn total(count: usize) -> impl Fn(&Value) -> bool {
    move |body| body["moments"].as_array().is_some_and(|moments| moments.len() == count)
}

#[tokio::test]
async fn hidden_moments_are_left_out_of_timelines_unless_asked_for() {
    const ALL: [&str; 7] = ["7", "6", "5", "4", "3", "2", "1"];
    let stack = Stack::connect();
    let (artist, friend) = (stack.new_collector().await, stack.new_collector().await);
    let uris: Vec<_> = (1..=7).map(|number| document(&number.to_string(), "video/mp4")).collect();
    let collection = stack.release(&artist.key, "Half hidden", &uris).await;
    let videos = format!("/timeline?collection={collection}&content_type=video");
    stack.wait_until(&videos, total(7)).await;
    let (wallet, other) = (&artist.artist.wallet, &friend.artist.wallet);
    let grant = json!({"moment": {"collectionAddress": collection, "tokenId": "3"}, "adminAddress": other});
    stack.write("/moment/permission", &artist.key, &grant, &[]).await.expect_success();
    stack.accept(&friend.key, wallet).await;
    stack.wait_until(&format!("/timeline?artist={other}&type=mutual"), total(1)).await;

    for token in ["1", "4", "5", "7"] {
        let answer = hide(&stack, &artist.key, &collection, token, json!({"hidden": true})).await.expect_success();
        assert_eq!(answer.body, json!({"success": true, "hidden": true}));
    }
    hide(&stack, &friend.key, &collection, "3", json!({})).await.expect_success();
    hide(&stack, &artist.key, &collection, "4", json!({"hidden": false})).await.expect_success();
    let is_shown = |body: &Value| {
        let moments = body["moments"].as_array().expect("moments").iter();
        moments.map(|moment| moment["token_id"].clone()).eq(["6", "4", "2"].map(Value::from))
    };
    stack.wait_until(&videos, is_shown).await;

    let in_collection = format!("collection={collection}");
    let made = format!("artist={wallet}&collection={collection}&content_type=video&protocol=native&period=day");
    for scope in [&in_collection, &made] {
        assert_eq!(tokens(&stack, &format!("{scope}&hidden=false")).await, ["6", "4", "2"], "{scope}");
        for limit in [1, 2, 3, 4, 5, 6, 7, 20] {
            let rows = stack.all_pages(&format!("/timeline?{scope}&hidden=true"), "moments", limit).await;
            let ids: Vec<_> = rows.iter().map(|row| row["token_id"].as_str().expect("an id")).collect();
            assert_eq!(ids, ALL, "{scope}, {limit} a page");
        }
    }
    assert!(tokens(&stack, &format!("artist={other}&type=mutual")).await.is_empty());
    assert_eq!(tokens(&stack, &format!("artist={other}&type=mutual&hidden=true")).await, ["3"]);
    for (token, hidden) in [("3", &friend), ("7", &artist)] {
        let path = format!("/moment?collectionAddress={collection}&tokenId={token}");
        let body = Answer::of(stack.get(&path)).await.expect_success().body;
        assert_eq!(body["hidden"], json!([stack.artist_id(&hidden.artist)]), "{token}");
    }
    let shown = Answer::of(stack.get(&format!("/moment?collectionAddress={collection}&tokenId=4"))).await;
    assert_eq!(shown.expect_success().body["hidden"], json!([]));

    // A new document puts it into other lists, of hidden moments as before.
    let change =
        json!({"moment": {"collectionAddress": collection, "tokenId": "7"}, "newUri": document("7", "image/png")});
    stack.write("/registry/metadata/moment", &artist.key, &change, &[]).await.expect_success();
    stack.wait_until(&format!("/timeline?{in_collection}&content_type=image&hidden=true"), total(1)).await;
    assert!(tokens(&stack, &format!("{in_collection}&content_type=image")).await.is_empty());
}

#[tokio::test]
async fn only_admins_hide_a_moment_and_only_one_that_is_there() {
    let stack = Stack::connect();
    let (artist, stranger) = (stack.new_writer().await, stack.new_writer().await);
    let collection = stack.release(&artist.key, "Not yours", &["ar://1".to_owned()]).await;
    let timeline = format!("/timeline?collection={collection}");
    stack.wait_until(&timeline, total(1)).await;
    hide(&stack, &stranger.key, &collection, "1", json!({})).await.expect_error(403);
    hide(&stack, &artist.key, &collection, "9", json!({})).await.expect_error(404);
    let wrong = hide(&stack, &artist.key, &collection, "x", json!({"hidden": "yes"})).await.expect_error(400);
    assert_eq!(wrong.failing_fields(), ["moment.tokenId", "hidden"]);
    let body = json!({"moment": {"collectionAddress": collection, "tokenId": "1"}});
    Answer::of(stack.post("/moment/hide").json(&body)).await.expect_error(401);
    Answer::of(stack.post("/moment/hide").bearer_auth(&artist.artist.token).json(&body)).await.expect_success();
    stack.wait_until(&timeline, total(0)).await;
}
