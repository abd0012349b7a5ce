//! `GET /collections/{network}/{contract}`

use std::fs;

use local::{paths::Paths, workshop};
use serde_json::json;
use shared::model::Dag;
use tests::{Answer, Stack, fields};

const FIELDS: [&str; 13] = [
    "address",
    "admins",
    "chain_id",
    "created_at",
    "creator",
    "id",
    "metadata",
    "name",
    "page",
    "protocol",
    "royalty",
    "updated_at",
    "uri",
];

#[tokio::test]
async fn collection_has_every_field() {
    let stack = Stack::connect();
    let address = format!("{:#x}", stack.demo_collection(0));
    let path = format!("/collections/eip155:8453/erc1155:{address}");
    let artist = &stack.map.demo["artists"][0];
    let body = stack.wait_until(&path, |body| !body["metadata"]["placeholder"].is_null()).await;
    assert_eq!(fields(&body), FIELDS);
    uuid::Uuid::parse_str(body["id"].as_str().expect("an id")).expect("a UUID");
    assert_eq!((&body["address"], &body["chain_id"]), (&json!(address), &json!(8453)));
    assert_eq!((&body["name"], &body["protocol"]), (&json!("First Light"), &json!("native")));
    assert_eq!(body["uri"], "ipfs://bafybeidemofirstlight/collection.json");
    assert_eq!((fields(&body["creator"]), &body["creator"]["address"]), (vec!["address", "username"], artist));
    assert_eq!(body["admins"], json!([artist]));
    for time in ["created_at", "updated_at"] {
        assert!(body[time].as_str().is_some_and(|time| time.ends_with('Z') && time.starts_with("20")), "{body}");
    }
    let picture = fs::read(Paths::of_checkout().demo().join("works/first-light.png")).expect("a picture");
    let (size, picture) = (picture.len(), format!("ipfs://{}", Dag::cid_of(&picture)));
    let metadata = &body["metadata"];
    assert_eq!(fields(&metadata["placeholder"]), ["color", "height", "thumbhash", "width"]);
    let widths: Vec<_> = metadata["previews"].as_array().expect("previews").iter().map(|form| &form["width"]).collect();
    assert_eq!(widths, [320, 640]);
    let expected = json!({
        "name": "First Light",
        "image": picture,
        "alt": "",
        "description": "Mornings by the sea, before anyone is up.",
        "content": {
            "mime": "image/png", "uri": picture, "width": 640, "height": 800, "size": size, "duration": null,
        },
        "external_url": "",
        "animation_url": "",
        "previews": metadata["previews"],
        "placeholder": metadata["placeholder"],
    });
    assert_eq!(metadata, &expected);
}

#[tokio::test]
async fn encoded_and_mixed_case_paths_are_accepted() {
    let stack = Stack::connect();
    let address = stack.demo_collection(0);
    let plain = format!("/collections/eip155:8453/erc1155:{address:#x}");
    let answer = Answer::of(stack.get(&plain)).await.expect_success();
    assert_eq!(answer.header("cache-control"), "public, max-age=5, stale-while-revalidate=10, stale-if-error=86400");
    for path in [
        format!("/collections/eip155%3A8453/erc1155%3A{address:#x}"),
        format!("/collections/eip155:8453/erc1155:{}?unknown=ignored", address.to_checksum(None)),
    ] {
        assert_eq!(Answer::of(stack.get(&path)).await.expect_success().body, answer.body, "{path}");
    }
    let known = stack.get(&plain).header("if-none-match", answer.header("etag"));
    assert_eq!(Answer::of(known).await.status, 304);
}

#[tokio::test]
async fn invalid_path_is_400_and_unknown_collection_404() {
    let stack = Stack::connect();
    let address = format!("{:#x}", stack.demo_collection(0));
    for (path, wrong) in [
        (format!("/collections/solana:8453/erc1155:{address}"), vec!["network"]),
        (format!("/collections/eip155:/erc1155:{address}"), vec!["network"]),
        (format!("/collections/eip155:base/erc1155:{address}"), vec!["network"]),
        (format!("/collections/8453/erc1155:{address}"), vec!["network"]),
        (format!("/collections/eip155:8453/erc721:{address}"), vec!["contract"]),
        (format!("/collections/eip155:8453/{address}"), vec!["contract"]),
        ("/collections/eip155:8453/erc1155:0x12".to_owned(), vec!["contract"]),
        ("/collections/x/y".to_owned(), vec!["network", "contract"]),
        (format!("/collections/eip155:99/erc1155:{address}"), vec!["network"]),
    ] {
        assert_eq!(Answer::of(stack.get(&path)).await.expect_error(400).failing_fields(), wrong, "{path}");
    }
    for path in [
        format!("/collections/eip155:8453/erc1155:0x{}", "9".repeat(40)),
        format!("/collections/eip155:1/erc1155:{address}"),
    ] {
        Answer::of(stack.get(&path)).await.expect_error(404);
    }
}

#[tokio::test]
async fn admins_are_sorted_and_distinct() {
    let stack = Stack::connect();
    let admins = [stack.new_collector().await.account, stack.new_collector().await.account];
    let (rpc, factory) = (&stack.map.rpc["8453"], stack.contract("factory"));
    let collection = workshop::publish(rpc, factory, &[admins[1], admins[0], admins[1]], Vec::new()).await;
    let path = format!("/collections/eip155:8453/erc1155:{:#x}", collection.expect("a collection"));
    let body = stack.wait_until(&path, |body| body["name"] == "Workshop").await;
    let creator = body["creator"]["address"].as_str().expect("an address").parse().expect("an address");
    let mut expected = [admins[0], admins[1], creator];
    expected.sort();
    assert_eq!(body["admins"], json!(expected.map(|admin| format!("{admin:#x}"))));
}
