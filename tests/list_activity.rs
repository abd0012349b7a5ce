//! `GET /artists/activity`

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use tests::{Answer, Stack};

#[tokio::test]
async fn kind_of_a_later_version_is_left_out_and_ends_no_page() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    for name in ["first", "second"] {
        stack.create_key(&artist, &json!({"name": name})).await.expect_success();
    }
    let page = async |query: &str| {
        let request = stack.get(&format!("/artists/activity{query}")).bearer_auth(&artist.token);
        Answer::of(request).await.expect_success()
    };
    let newest = page("").await.body["activity"][0]["id"].as_str().expect("an id").to_owned();
    let (table, partition) = (&stack.map.names["ArtistTable"], format!("ACTIVITY#{}", stack.artist_id(&artist)));
    stack.set(table, &partition, &newest, "kind", AttributeValue::S("of_tomorrow".to_owned())).await;
    let kinds: Vec<_> = page("").await.body["activity"].as_array().expect("a list").clone();
    assert_eq!(kinds.iter().map(|one| &one["kind"]).collect::<Vec<_>>(), ["key_created", "signed_in"]);
    let first = page("?limit=1").await;
    assert_eq!(first.body["activity"], json!([]));
    let next = first.header("link").trim_start_matches('<').split('>').next().expect("a link").to_owned();
    let second = page(&next).await.body;
    assert_eq!(
        (&second["activity"][0]["kind"], second["activity"].as_array().map(Vec::len)),
        (&json!("key_created"), Some(1))
    );
}
