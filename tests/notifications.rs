//! `GET /notifications` and `PUT /notifications`

use serde_json::{Value, json};
use tests::{Answer, Stack, fields};

const PATH: &str = "/notifications";

fn count(body: &Value) -> Option<usize> {
    body["notifications"].as_array().map(Vec::len)
}

/// Ids of a list's notifications, in its order.
async fn ids(stack: &Stack, query: &str) -> Vec<Value> {
    let body = Answer::of(stack.get(&format!("{PATH}?{query}"))).await.expect_success().body;
    body["notifications"].as_array().expect("notifications").iter().map(|row| row["id"].clone()).collect()
}

async fn mark(stack: &Stack, token: &str, body: &Value) -> Value {
    let answer = Answer::of(stack.put(PATH).bearer_auth(token).json(body)).await.expect_success();
    assert_eq!(answer.body["status"], "success");
    answer.body["updated"].clone()
}

#[tokio::test]
async fn paid_collects_notify_the_artist_who_marks_them_as_viewed() {
    let stack = Stack::connect();
    let (artist, buyer) = (stack.new_collector().await, stack.new_collector().await);
    let profile = json!({"bio": "Paints light.", "telegram_username": "paints_light"});
    let profile = stack.patch("/artists/me").bearer_auth(&artist.artist.token).json(&profile);
    Answer::of(profile).await.expect_success();
    let collection = stack.release(&artist.key, "Paid", &["ar://1".to_owned()]).await;
    stack.set_balance(buyer.account, 1_000_000_000_000_000_000).await;
    let order = json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "amount": 1, "comment": ""});
    for _ in 0..3 {
        stack.write("/moment/collect", &buyer.key, &order, &[]).await.expect_success();
    }
    let wallet = &artist.artist.wallet;
    let path = format!("{PATH}?artist={wallet}");
    let body = stack.wait_until(&path, |body| count(body) == Some(3)).await;
    assert_eq!((fields(&body), &body["status"]), (vec!["notifications", "pagination", "status"], &json!("success")));
    let newest = &body["notifications"][0];
    assert_eq!(fields(newest), ["artist", "created_at", "id", "payment", "viewed"]);
    assert_eq!(
        newest["artist"],
        json!({
            "address": wallet, "username": "", "bio": "Paints light.", "instagram_username": "", "twitter_username": "",
            "telegram_username": "paints_light",
            "page": format!("{}/a/{wallet}", stack.map.api.trim_end_matches("/api")),
        })
    );
    assert_eq!((&newest["viewed"], &newest["created_at"]), (&json!(false), &newest["payment"]["transferred_at"]));
    let payments = Answer::of(stack.get(&format!("/payments?artist={wallet}"))).await.expect_success().body;
    assert_eq!(newest["payment"], payments["payments"][0]);

    let (all, token) = (ids(&stack, &format!("artist={wallet}")).await, &artist.artist.token);
    let with = |viewed: bool| format!("artist={wallet}&viewed={viewed}");
    assert_eq!(ids(&stack, &with(false)).await, all);
    assert_eq!(ids(&stack, &with(true)).await, Vec::<Value>::new());

    // Another artist's notifications are neither changed nor counted.
    assert_eq!(mark(&stack, &buyer.artist.token, &json!({"ids": all})).await, 0);
    assert_eq!(mark(&stack, &buyer.artist.token, &json!({})).await, 0);
    assert_eq!(ids(&stack, &with(false)).await, all);

    let some = json!({"ids": [all[1], uuid::Uuid::new_v4().to_string(), all[1]]});
    assert_eq!(mark(&stack, token, &some).await, 1);
    assert_eq!(mark(&stack, token, &some).await, 0);
    assert_eq!(ids(&stack, &with(false)).await, [all[0].clone(), all[2].clone()]);
    assert_eq!(ids(&stack, &with(true)).await, [all[1].clone()]);
    // Everyone's are searched past pages without a match, however many others come meanwhile.
    let viewed = stack.all_pages(&format!("{PATH}?viewed=true"), "notifications", 2).await;
    assert!(viewed.iter().any(|row| row["id"] == all[1]) && viewed.iter().all(|row| row["viewed"] == true));
    let shown = Answer::of(stack.get(&path)).await.expect_success().body;
    let shown: Vec<_> = shown["notifications"].as_array().expect("rows").iter().map(|row| &row["viewed"]).collect();
    assert_eq!(shown, [false, true, false]);
    assert_eq!(stack.all_pages(&format!("{PATH}?{}", with(false)), "notifications", 1).await.len(), 2);

    // An unused key is accepted like a token, and no body means all.
    let key = stack.create_key(&artist.artist, &json!({})).await.expect_success().body;
    let key = key["apiKey"].as_str().expect("a key");
    let answer = Answer::of(stack.put(PATH).header("x-api-key", key)).await.expect_success();
    assert_eq!(answer.body, json!({"status": "success", "updated": 2}));
    assert_eq!(ids(&stack, &with(true)).await, all);
    stack.write("/moment/collect", &buyer.key, &order, &[]).await.expect_success();
    stack.wait_until(&format!("{PATH}?{}", with(false)), |body| count(body) == Some(1)).await;
    assert_eq!(ids(&stack, &with(true)).await, all);

    let everyones = stack.all_pages(&format!("{PATH}?page=1"), "notifications", 100).await;
    assert!(all.iter().all(|id| everyones.iter().any(|row| row["id"] == *id)), "{everyones:?}");
    assert!(ids(&stack, "limit=100&viewed=true").await.contains(&all[0]));
    assert!(!ids(&stack, "limit=100&viewed=false").await.contains(&all[0]));
}

#[tokio::test]
async fn free_collect_makes_no_notification() {
    let stack = Stack::connect();
    let collection = stack.demo_collection(1);
    let artist = stack.map.demo["artists"][1].as_str().expect("an address");
    let body = Answer::of(stack.get(&format!("{PATH}?artist={artist}"))).await.expect_success().body;
    let rows = body["notifications"].as_array().expect("rows");
    assert!(!rows.is_empty());
    assert!(rows.iter().all(|row| row["payment"]["amount"] != "0"), "{collection}: {rows:?}");
}

#[tokio::test]
async fn every_invalid_parameter_is_named() {
    let stack = Stack::connect();
    for (query, wrong) in [
        ("artist=a", vec!["artist"]),
        ("viewed=yes", vec!["viewed"]),
        ("viewed=TRUE", vec!["viewed"]),
        ("chainId=7", vec!["chainId"]),
        ("artist=x&viewed=1&chainId=x&limit=0&page=0", vec!["artist", "viewed", "chainId", "limit", "page"]),
    ] {
        let answer = Answer::of(stack.get(&format!("{PATH}?{query}"))).await.expect_error(400);
        assert_eq!(answer.failing_fields(), wrong, "{query}");
    }
    let artist = stack.new_artist().await;
    let id = uuid::Uuid::new_v4().to_string();
    for (body, wrong) in [
        (json!({"ids": []}), vec!["ids"]),
        (json!({"ids": vec![&id; 101]}), vec!["ids"]),
        (json!({"ids": id}), vec!["ids"]),
        (json!({"ids": ["x", id, 7]}), vec!["ids.0", "ids.2"]),
    ] {
        let answer = Answer::of(stack.put(PATH).bearer_auth(&artist.token).json(&body)).await.expect_error(400);
        assert_eq!(answer.failing_fields(), wrong, "{body}");
    }
}

#[tokio::test]
async fn marking_without_a_credential_is_401() {
    let stack = Stack::connect();
    Answer::of(stack.put(PATH)).await.expect_error(401);
    Answer::of(stack.put(PATH).bearer_auth("x")).await.expect_error(401);
    Answer::of(stack.put(PATH).header("x-api-key", "moments_x")).await.expect_error(401);
}
