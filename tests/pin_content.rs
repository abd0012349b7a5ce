//! `pin-content`, and single blocks of `GET /ipfs/{cid}`

use local::pinning_service::TOKEN;
use serde_json::{Value, json};
use shared::model::{Dag, LEAF};
use tests::{Answer, SignedIn, Stack, eventually};

async fn upload(stack: &Stack, artist: &SignedIn, content: &[u8]) -> String {
    let id = stack.finished_upload(artist, content.to_vec()).await;
    cid_of(&stack.complete_upload(artist, &id).await.expect_success())
}

fn cid_of(stored: &Answer) -> String {
    stored.body["uri"].as_str().and_then(|uri| uri.strip_prefix("ipfs://")).expect("a URI").to_owned()
}

/// Waits until the service, which fetches every block, has the file.
async fn pinned(stack: &Stack, cid: &str) -> Value {
    let url = format!("{}/pins?cid={cid}&status=pinned,failed", stack.map.pinning);
    eventually(format!("{cid} is pinned"), async || {
        let answer = Answer::of(stack.http.get(&url).bearer_auth(TOKEN)).await.expect_success().body;
        answer["results"].get(0).cloned()
    })
    .await
}

#[tokio::test]
async fn files_are_pinned_by_a_service_that_fetches_them_block_by_block() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let mut content = [b"\x89PNG\r\n\x1a\n".as_slice(), uuid::Uuid::new_v4().as_bytes()].concat();
    content.resize(2 * LEAF + 1_000, 7);
    let large = upload(&stack, &artist, &content).await;
    let name = format!("Tide {}", uuid::Uuid::new_v4());
    let metadata = stack.post("/metadata").bearer_auth(&artist.token).json(&json!({"name": name}));
    let small = cid_of(&Answer::of(metadata).await.expect_success());
    for cid in [&large, &small] {
        let found = pinned(&stack, cid).await;
        assert_eq!(found["status"], "pinned", "{found}");
        assert_eq!(found["pin"]["meta"], json!({"service": "moments"}));
    }

    let leaf = Dag::cid_of(&content[LEAF..2 * LEAF]).to_string();
    let block = stack.get(&format!("/ipfs/{leaf}?format=raw")).send().await.expect("an answer");
    let header = |name: &str| block.headers()[name].to_str().expect("text").to_owned();
    assert_eq!((block.status().as_u16(), header("content-type").as_str()), (200, "application/vnd.ipld.raw"));
    assert_eq!(header("cache-control"), "public, max-age=31536000, immutable");
    assert!(header("content-disposition").starts_with("attachment"));
    assert_eq!(block.bytes().await.expect("bytes"), &content[LEAF..2 * LEAF]);
    assert_eq!(Answer::of(stack.get(&format!("/ipfs/{leaf}"))).await.status, 404, "a block alone is no file");
}

#[tokio::test]
async fn other_forms_and_blocks_are_refused() {
    let stack = Stack::connect();
    let cid = Dag::cid_of(uuid::Uuid::new_v4().as_bytes());
    let car = Answer::of(stack.get(&format!("/ipfs/{cid}?format=car"))).await;
    assert_eq!((car.status, car.failing_fields()), (400, vec!["format"]));
    assert_eq!(Answer::of(stack.get(&format!("/ipfs/{cid}?format=raw"))).await.status, 404);
}
