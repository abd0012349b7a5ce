//! `GET /timeline`

use std::collections::BTreeSet;

use local::{contracts, workshop};
use serde_json::{Value, json};
use tests::{Answer, Stack, document, fields};

fn count(body: &Value) -> Option<usize> {
    body["moments"].as_array().map(Vec::len)
}

/// Token ids of a timeline's moments, in its order.
async fn tokens(stack: &Stack, query: &str) -> Vec<String> {
    let body = Answer::of(stack.get(&format!("/timeline?{query}"))).await.expect_success().body;
    let moments = body["moments"].as_array().expect("moments");
    moments.iter().map(|moment| moment["token_id"].as_str().expect("an id").to_owned()).collect()
}

#[tokio::test]
async fn combined_filters_return_matching_moments() {
    let stack = Stack::connect();
    let (artist, friend) = (stack.new_collector().await, stack.new_collector().await);
    let name = format!("timeline-{}", &uuid::Uuid::new_v4().simple().to_string()[..8]);
    let named = stack.patch("/artists/me").bearer_auth(&artist.artist.token).json(&json!({"username": name}));
    Answer::of(named).await.expect_success();
    let uris =
        [document("1", "video/mp4"), document("2", "image/png"), document("3", "VIDEO/webm"), "ar://x".to_owned()];
    let collection = stack.release(&artist.key, "Mixed", &uris).await;
    let grant = json!({
        "moment": {"collectionAddress": collection, "tokenId": "3"},
        "adminAddress": friend.artist.wallet,
    });
    stack.write("/moment/permission", &artist.key, &grant, &[]).await.expect_success();
    stack.accept(&friend.key, &artist.artist.wallet).await;
    let (wallet, friend) = (&artist.artist.wallet, &friend.artist.wallet);
    stack.wait_until(&format!("/timeline?artist={friend}&content_type=video"), |body| count(body) == Some(1)).await;
    stack.wait_until(&format!("/timeline?artist={wallet}&content_type=image"), |body| count(body) == Some(1)).await;

    let of_artist = [format!("artist={wallet}"), format!("artist={name}"), format!("artist={}", name.to_uppercase())];
    let in_collection = [format!("collection={collection}"), format!("collection={collection}&artist={wallet}")];
    for scope in of_artist.iter().chain(&in_collection) {
        for more in ["", "&curated=true", "&protocol=native", "&period=day", "&period=all&chain_id=8453"] {
            assert_eq!(tokens(&stack, &format!("{scope}{more}")).await, ["4", "3", "2", "1"], "{scope}{more}");
            let videos = format!("{scope}{more}&content_type=video");
            assert_eq!(tokens(&stack, &videos).await, ["3", "1"], "{videos}");
        }
        for none in ["&protocol=editions", "&content_type=audio", "&chain_id=1"] {
            assert!(tokens(&stack, &format!("{scope}{none}")).await.is_empty(), "{scope}{none}");
        }
    }
    for (query, expected) in [
        (format!("artist={wallet}&type=default&content_type=video"), vec!["3", "1"]),
        (format!("artist={wallet}&type=mutual"), vec![]),
        (format!("artist={friend}&type=mutual&curated=true&content_type=video&protocol=native"), vec!["3"]),
        (format!("artist={friend}&type=default"), vec![]),
        (format!("artist={friend}"), vec!["3"]),
        (format!("collection={collection}&artist={friend}"), vec![]),
        ("artist=nobody-has-this-name".to_owned(), vec![]),
    ] {
        assert_eq!(tokens(&stack, &query).await, expected, "{query}");
    }

    let nameless = stack.new_collector().await;
    let unnamed = stack.release(&nameless.key, "Unnamed", &["ar://unnamed".to_owned()]).await;
    stack.wait_until(&format!("/timeline?artist={}", nameless.artist.wallet), |body| count(body) == Some(1)).await;
    // Pages, since other tests publish meanwhile. They hide artists, too, whose names go before their moments.
    let all = stack.all_pages("/timeline?curated=true", "moments", 100).await;
    assert!(all.iter().all(|moment| moment["address"] != unnamed.as_str()), "{all:?}");
    let ours = all.iter().filter(|moment| moment["address"] == collection.as_str()).map(|moment| &moment["token_id"]);
    assert_eq!(ours.filter_map(Value::as_str).collect::<BTreeSet<_>>().len(), 4);
    let rows = stack.all_pages(&format!("/timeline?artist={wallet}"), "moments", 3).await;
    assert_eq!(rows.iter().map(|row| &row["token_id"]).collect::<Vec<_>>(), ["4", "3", "2", "1"]);
}

#[tokio::test]
async fn listed_moment_equals_the_single_one() {
    let stack = Stack::connect();
    let collection = format!("{:#x}", stack.demo_collection(0));
    let path = format!("/timeline?collection={collection}&content_type=image");
    let body = stack.wait_until(&path, |body| count(body) == Some(2)).await;
    assert_eq!(fields(&body), ["moments", "pagination", "status"]);
    assert_eq!(body["pagination"], json!({"page": 1, "limit": 20, "total_count": 2, "total_pages": 1}));
    let second = Answer::of(stack.get(&format!("/moment?collectionAddress={collection}&tokenId=2"))).await;
    assert_eq!(body["moments"][0], second.expect_success().body);
}

#[tokio::test]
async fn collection_admin_is_an_admin_of_its_earlier_moments() {
    let stack = Stack::connect();
    let friend = stack.new_collector().await;
    let (rpc, factory) = (&stack.map.rpc["8453"], stack.contract("factory"));
    // The factory creates the moment first, and adds the admins afterwards.
    workshop::publish(rpc, factory, &[friend.account], Vec::new()).await.expect("a collection");
    stack.accept(&friend.key, &format!("{:#x}", contracts::DEPLOYER)).await;
    let path = format!("/timeline?artist={}", friend.artist.wallet);
    stack.wait_until(&format!("{path}&type=mutual"), |body| count(body) == Some(1)).await;
    assert_eq!(tokens(&stack, &format!("{}&type=default", &path["/timeline?".len()..])).await, Vec::<String>::new());
}

#[tokio::test]
async fn every_invalid_parameter_is_named() {
    let stack = Stack::connect();
    let address = format!("0x{}", "9".repeat(40));
    for (query, wrong) in [
        ("artist=a".to_owned(), vec!["artist"]),
        ("collection=x".to_owned(), vec!["collection"]),
        ("type=default".to_owned(), vec!["type"]),
        (format!("type=mutual&artist={address}&collection={address}"), vec!["type"]),
        (format!("type=both&artist={address}"), vec!["type"]),
        ("content_type=video/mp4".to_owned(), vec!["content_type"]),
        ("period=year".to_owned(), vec!["period"]),
        ("protocol=other".to_owned(), vec!["protocol"]),
        ("curated=yes".to_owned(), vec!["curated"]),
        ("chain_id=7".to_owned(), vec!["chain_id"]),
        ("limit=101&page=0".to_owned(), vec!["limit", "page"]),
    ] {
        let answer = Answer::of(stack.get(&format!("/timeline?{query}"))).await.expect_error(400);
        assert_eq!(answer.failing_fields(), wrong, "{query}");
    }
}
