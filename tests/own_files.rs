//! `GET /uploads`, `DELETE /uploads/{id}`, and files where there is no host for them

use std::time::UNIX_EPOCH;

use aws_sdk_dynamodb::types::AttributeValue;
use futures::future::join_all;
use local::desk::Desk;
use serde_json::{Value, json};
use shared::model::{DAY, Dag};
use tests::{Answer, Sandbox, SignedIn, Stack, picture};

/// Uploads a picture of its own, or this one. Returns the upload's id and the CID.
async fn uploaded(stack: &Stack, artist: &SignedIn, content: &[u8]) -> (String, String) {
    let id = stack.finished_upload(artist, content.to_vec()).await;
    stack.complete_upload(artist, &id).await.expect_success();
    (id, Dag::cid_of(content).to_string())
}

async fn deleted(stack: &Stack, artist: &SignedIn, id: &str) -> Answer {
    Answer::of(stack.delete(&format!("/uploads/{id}")).bearer_auth(&artist.token)).await
}

async fn listed(stack: &Stack, artist: &SignedIn) -> Vec<Value> {
    let answer = Answer::of(stack.get("/uploads").bearer_auth(&artist.token)).await.expect_success();
    answer.body["uploads"].as_array().expect("uploads").clone()
}

async fn status(stack: &Stack, cid: &str) -> u16 {
    let answer = stack.get(&format!("/ipfs/{cid}")).header("range", "bytes=0-0").send().await.expect("an answer");
    answer.status().as_u16()
}

async fn stored_bytes(stack: &Stack, artist: &SignedIn) -> Option<AttributeValue> {
    let partition = format!("UPLOADED#{}", stack.artist_id(artist));
    stack.row(&stack.map.names["ArtistTable"], &partition, "TOTAL").await?.remove("stored_bytes")
}

fn bytes(number: u64) -> Option<AttributeValue> {
    Some(AttributeValue::N(number.to_string()))
}

#[tokio::test]
async fn artist_lists_own_files_and_deletes_what_nothing_names() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let content = picture(3_000);
    let (first, cid) = uploaded(&stack, &artist, &content).await;
    let (second, _) = uploaded(&stack, &artist, &picture(4_000)).await;
    assert_eq!(stored_bytes(&stack, &artist).await, bytes(7_000));
    let files = listed(&stack, &artist).await;
    assert_eq!(files.iter().map(|file| &file["uploadId"]).collect::<Vec<_>>(), [&json!(second), &json!(first)]);
    let file = &files[1];
    assert_eq!(file["uri"], format!("ipfs://{cid}"));
    assert_eq!((&file["contentType"], &file["size"]), (&json!("image/png"), &json!(3_000)));
    assert_eq!((&file["documents"], &file["moment"], &file["removed"]), (&json!(0), &Value::Null, &Value::Null));
    let page = stack.get("/uploads?limit=1").bearer_auth(&artist.token).send().await.expect("an answer");
    assert_eq!(page.headers()["link"], format!("<?limit=1&before={second}>; rel=\"next\""));
    let next = stack.get(&format!("/uploads?limit=1&before={second}")).bearer_auth(&artist.token);
    assert_eq!(Answer::of(next).await.expect_success().body["uploads"][0]["uploadId"], json!(first));

    deleted(&stack, &artist, &first).await.expect_success();
    assert_eq!((status(&stack, &cid).await, stored_bytes(&stack, &artist).await), (404, bytes(4_000)));
    assert_eq!(listed(&stack, &artist).await.len(), 1);
    assert_eq!(deleted(&stack, &artist, &first).await.status, 404, "twice");
    assert_eq!(stack.complete_upload(&artist, &first).await.status, 404, "it isn't said to be there");
    uploaded(&stack, &artist, &content).await;
    assert_eq!((status(&stack, &cid).await, stored_bytes(&stack, &artist).await), (206, bytes(7_000)));
}

#[tokio::test]
async fn uploads_of_the_same_picture_at_once_are_one_file() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    for round in 1..=3_u64 {
        let content = picture(5_000);
        let upload = async || stack.finished_upload(&artist, content.clone()).await;
        let uploads = [upload().await, upload().await, upload().await, upload().await];
        let answers = join_all(uploads.iter().map(|id| stack.complete_upload(&artist, id))).await;
        for answer in answers {
            assert_eq!(answer.expect_success().body["uri"], Dag::cid_of(&content).uri());
        }
        assert_eq!(stored_bytes(&stack, &artist).await, bytes(5_000 * round));
    }
}

#[tokio::test]
async fn file_of_a_document_stays_for_a_day_and_that_of_a_moment_for_good() {
    let stack = Stack::connect();
    let writer = stack.new_collector().await;
    let artist = &writer.artist;
    let named = async |cid: &str| {
        let document = json!({"name": format!("Of {cid}"), "image": format!("ipfs://{cid}")});
        let stored = Answer::of(stack.post("/metadata").bearer_auth(&artist.token).json(&document)).await;
        stored.expect_success().body["uri"].as_str().expect("a URI").to_owned()
    };
    let age = async |cid: &str, uri: &str| {
        let before = (UNIX_EPOCH.elapsed().expect("a time").as_secs() - DAY - 1).to_string();
        let (partition, document) = (format!("FILE#{cid}"), uri.trim_start_matches("ipfs://"));
        let table = &stack.map.names["ArtistTable"];
        stack.set(table, &partition, document, "at", AttributeValue::N(before)).await;
    };
    let (draft, draft_cid) = uploaded(&stack, artist, &picture(2_000)).await;
    let draft_uri = named(&draft_cid).await;
    assert_eq!(listed(&stack, artist).await[0]["documents"], 1);
    let refused = deleted(&stack, artist, &draft).await.expect_error(409);
    assert!(refused.body["message"].to_string().contains("less than a day"), "{refused:?}");
    age(&draft_cid, &draft_uri).await;
    named(&draft_cid).await;
    assert_eq!(deleted(&stack, artist, &draft).await.status, 409, "the document was stored again");
    age(&draft_cid, &draft_uri).await;
    deleted(&stack, artist, &draft).await.expect_success();

    let (shown, shown_cid) = uploaded(&stack, artist, &picture(2_000)).await;
    let uri = named(&shown_cid).await;
    let collection = stack.release(&writer.key, "Named", std::slice::from_ref(&uri)).await.to_lowercase();
    stack.wait_until(&format!("/timeline?collection={collection}"), |body| body["moments"][0].is_object()).await;
    age(&shown_cid, &uri).await;
    let moment = json!({"collectionAddress": collection, "tokenId": "1", "chainId": 8453});
    assert_eq!(listed(&stack, artist).await[0]["moment"], moment);
    let refused = deleted(&stack, artist, &shown).await.expect_error(409);
    assert!(refused.body["message"].to_string().contains(&format!("Moment 1 of {collection}")), "{refused:?}");

    let (avatar, avatar_cid) = uploaded(&stack, artist, &picture(2_000)).await;
    let profile = json!({"avatar": format!("ipfs://{avatar_cid}")});
    Answer::of(stack.patch("/artists/me").bearer_auth(&artist.token).json(&profile)).await.expect_success();
    assert_eq!(deleted(&stack, artist, &avatar).await.status, 409, "the artist's picture");
}

#[tokio::test]
async fn content_of_two_artists_goes_with_the_last_and_stays_if_the_operator_removed_it() {
    let stack = Stack::connect();
    let (one, other) = (stack.new_artist().await, stack.new_artist().await);
    let content = picture(5_000);
    let (of_one, cid) = uploaded(&stack, &one, &content).await;
    let (of_other, _) = uploaded(&stack, &other, &content).await;
    assert_eq!(stored_bytes(&stack, &other).await, bytes(5_000));
    assert_eq!(deleted(&stack, &other, &of_one).await.status, 404, "another's");
    deleted(&stack, &one, &of_one).await.expect_success();
    assert_eq!((status(&stack, &cid).await, stored_bytes(&stack, &one).await), (206, bytes(0)));
    let desk = Desk::of_stack(&stack.map, "the night shift").await.expect("a desk");
    let run = async |arguments: &[&str]| {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        desk.run(&arguments).await.expect("a decision")
    };
    run(&["remove", &format!("cid#{cid}"), "illegal", "a test"]).await;
    assert_eq!(listed(&stack, &other).await[0]["removed"], "illegal");
    assert_eq!(deleted(&stack, &other, &of_other).await.status, 451, "it is evidence");
    run(&["undo", &format!("cid#{cid}")]).await;
    deleted(&stack, &other, &of_other).await.expect_success();
    assert_eq!((status(&stack, &cid).await, stored_bytes(&stack, &other).await), (404, bytes(0)));
}

#[tokio::test]
async fn without_a_files_host_a_large_file_is_in_the_bucket_for_five_minutes() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let content = picture((4 << 20) + 1);
    let (_, cid) = uploaded(&stack, &artist, &content).await;
    // The local bucket checks signed addresses. It knows this access key and that of `create-upload`.
    let variables = [("FILES_ADDRESS", ""), ("AWS_ACCESS_KEY_ID", "test")];
    let sandbox = Sandbox::with_variables(&stack, "read-content", &variables).await;
    let mut event = sandbox.event();
    event["pathParameters"]["cid"] = json!(cid);
    let answer = sandbox.invoke(&event).await;
    assert_eq!(answer["statusCode"], 307, "{answer}");
    let signed = answer["headers"]["location"].as_str().expect("an address");
    assert!(signed.contains(&format!("/ipfs/{cid}?")), "{signed}");
    assert!(signed.split(['?', '&']).any(|part| part == "X-Amz-Expires=300"), "{signed}");

    let read = async |address: &str| stack.http.get(address).send().await.expect("an answer");
    let longer = read(&signed.replace("X-Amz-Expires=300", "X-Amz-Expires=301")).await;
    assert_eq!(longer.status(), 403, "the time is signed");
    let file = read(signed).await;
    assert_eq!(file.status(), 200);
    assert_eq!(file.headers()["content-type"], "image/png");
    assert!(file.bytes().await.expect("bytes") == content, "whoever follows the redirection has the file");
}
