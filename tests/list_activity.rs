//! `GET /artists/activity`

use alloy::primitives::Address;
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use tests::{Answer, DAY, SignedIn, Stack, Writer, within_one_window};

/// A writer whose collection's moment the index has, and the moment.
async fn writer_with_moment(stack: &Stack) -> (Writer, Value) {
    let writer = stack.new_writer().await;
    stack.wait_until(&format!("/moment?collectionAddress={:#x}&tokenId=1", writer.collection), |_| true).await;
    let moment = json!({"collectionAddress": writer.collection, "tokenId": "1"});
    (writer, moment)
}

async fn hide(stack: &Stack, key: &str, moment: &Value, hidden: bool) {
    let request =
        stack.post("/moment/hide").header("x-api-key", key).json(&json!({"moment": moment, "hidden": hidden}));
    Answer::of(request).await.expect_success();
}

/// Kinds and subjects of the artist's works, newest first.
async fn works(stack: &Stack, artist: &SignedIn) -> Vec<(Value, Value)> {
    let request = stack.get("/artists/activity?works=true").bearer_auth(&artist.token);
    let body = Answer::of(request).await.expect_success().body;
    let list = body["activity"].as_array().expect("a list");
    list.iter().map(|one| (one["kind"].clone(), one["subject"].clone())).collect()
}

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

#[tokio::test]
async fn comment_is_listed_and_what_changes_whether_a_moment_is_shown() {
    let stack = Stack::connect();
    let (writer, moment) = writer_with_moment(&stack).await;
    let subject = json!(format!("8453#{:#x}#1", writer.collection));
    let path = format!("/comments/eip155:8453/erc1155:{:#x}", writer.collection);
    let comment = json!({"tokenId": "1", "text": "Made at dawn."});
    stack.write(&path, &writer.key, &comment, &[]).await.expect_success();
    // Nothing is changed by some of them.
    for hidden in [false, true, true, false, false] {
        hide(&stack, &writer.key, &moment, hidden).await;
    }
    let expected = ["moment_shown", "moment_hidden", "commented"].map(|kind| (json!(kind), subject.clone()));
    assert_eq!(works(&stack, &writer.artist).await, expected);
}

#[tokio::test]
async fn moment_that_is_hidden_and_shown_by_turns_buries_no_changed_sale_and_is_listed_as_it_is() {
    let stack = Stack::connect();
    let kinds = within_one_window(DAY, async || {
        let (writer, moment) = writer_with_moment(&stack).await;
        let sale = json!({"moment": moment, "pricePerToken": "7"});
        stack.write("/sale", &writer.key, &sale, &[]).await.expect_success();
        for turn in 0..13 {
            hide(&stack, &writer.key, &moment, turn % 2 == 0).await;
        }
        works(&stack, &writer.artist).await.into_iter().map(|(kind, _)| kind).collect::<Vec<_>>()
    })
    .await;
    assert_eq!(kinds, ["moment_hidden", "moment_shown", "sale_changed"]);
}

#[tokio::test]
async fn whatever_gives_a_work_away_or_moves_it_is_listed() {
    let stack = Stack::connect();
    let (writer, moment) = writer_with_moment(&stack).await;
    let airdrop = json!({"moment": moment, "recipients": [Address::repeat_byte(0xaa)]});
    stack.write("/moment/airdrop", &writer.key, &airdrop, &[]).await.expect_success();
    stack.claim_link(&writer.key, writer.collection, json!({"count": 3})).await;
    let collection = json!({"name": "Elsewhere", "uri": "ipfs://bafythere/collection.json"});
    let elsewhere = stack.write("/collections", &writer.key, &collection, &[]).await.expect_success();
    let elsewhere = elsewhere.body["contractAddress"].as_str().expect("an address").to_lowercase();
    let order = json!({"moment": moment, "newCollectionAddress": elsewhere});
    let request = stack.patch("/moment").header("x-api-key", &writer.key).header("idempotency-key", "move");
    Answer::of_write(request.json(&order)).await.expect_success();
    let place = format!("8453#{:#x}#1", writer.collection);
    let expected = [
        ("moment_moved", format!("{place}, to {elsewhere}")),
        ("published", "a new collection".to_owned()),
        ("claim_link_created", format!("{place}, for 3")),
        ("airdropped", format!("{place}, to 1 recipient")),
    ];
    assert_eq!(works(&stack, &writer.artist).await, expected.map(|(kind, subject)| (json!(kind), json!(subject))));
}
