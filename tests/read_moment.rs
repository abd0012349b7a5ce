//! `GET /moment`

use serde_json::json;
use tests::{Answer, Stack, document, fields};

#[tokio::test]
async fn moment_has_sale_supply_admins_and_metadata() {
    let stack = Stack::connect();
    let (artist, friend) = (stack.new_collector().await, stack.new_collector().await);
    let uris = [document("First", "video/mp4"), "ar://never".to_owned()];
    let collection = stack.release(&artist.key, "Films", &uris).await;
    let grant = json!({
        "moment": {"collectionAddress": collection, "tokenId": "1"},
        "adminAddress": friend.artist.wallet,
    });
    stack.write("/moment/permission", &artist.key, &grant, &[]).await.expect_success();
    stack.set_balance(friend.account, 1_000_000_000_000_000_000).await;
    let order = json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "amount": 2, "comment": "Two!"});
    stack.write("/moment/collect", &friend.key, &order, &[]).await.expect_success();

    let path = format!("/moment?collectionAddress={collection}&tokenId=1");
    let body = stack.wait_until(&path, |body| body["supply"]["minted"] == "2" && !body["metadata"].is_null()).await;
    assert_eq!(
        fields(&body),
        [
            "address",
            "admins",
            "allowList",
            "chain_id",
            "collection",
            "comments",
            "contentUri",
            "created_at",
            "creator",
            "hidden",
            "id",
            "metadata",
            "movedTo",
            "owner",
            "page",
            "protocol",
            "royalty",
            "sale",
            "soldOut",
            "supply",
            "token_id",
            "updated_at",
            "uri",
        ]
    );
    assert_eq!(
        (&body["address"], &body["token_id"], &body["chain_id"]),
        (&json!(collection), &json!("1"), &json!(8453))
    );
    assert_eq!((&body["uri"], &body["collection"]), (&json!(uris[0]), &json!({"name": "Films"})));
    assert_eq!(body["creator"], json!({"address": artist.artist.wallet, "username": ""}));
    let mut admins = [&artist.artist.wallet, &friend.artist.wallet];
    admins.sort();
    assert_eq!(body["admins"], json!(admins));
    assert_eq!(
        body["sale"],
        json!({
            "type": "fixedPrice", "pricePerToken": "1000", "saleStart": "0", "saleEnd": u64::MAX.to_string(), "maxTokensPerAddress": "0",
            "fundsRecipient": artist.artist.wallet, "currency": format!("0x{}", "0".repeat(40)),
        })
    );
    assert_eq!(body["supply"], json!({"max": "18446744073709551615", "minted": "2", "total": "2"}));
    assert_eq!(
        body["metadata"],
        json!({
            "name": "First", "image": "", "alt": "", "description": "", "external_url": "", "animation_url": "",
            "previews": [], "placeholder": null,
            "content": {
                "mime": "video/mp4", "uri": "ar://content", "width": null, "height": null, "size": null, "duration": null,
            },
        })
    );
    assert_eq!((&body["owner"], &body["contentUri"]), (&body["creator"]["address"], &json!("ar://content")));
    assert_eq!(body["soldOut"], false);
    assert_eq!((&body["comments"], &body["protocol"]), (&json!(1), &json!("native")));

    let second = Answer::of(stack.get(&format!("/moment?collectionAddress={collection}&tokenId=2"))).await;
    let second = second.expect_success().body;
    assert_eq!((&second["metadata"], &second["contentUri"]), (&json!(null), &json!(null)));
}

#[tokio::test]
async fn unknown_moment_is_404_and_invalid_parameters_are_named() {
    let stack = Stack::connect();
    let collection = stack.demo_collection(0);
    for query in [
        format!("collectionAddress={collection}&tokenId=99"),
        format!("collectionAddress={collection}&tokenId=0"),
        format!("collectionAddress={collection}&tokenId=1&chainId=1"),
        format!("collectionAddress=0x{}&tokenId=1", "9".repeat(40)),
    ] {
        Answer::of(stack.get(&format!("/moment?{query}"))).await.expect_error(404);
    }
    for (query, wrong) in [
        (String::new(), vec!["collectionAddress", "tokenId"]),
        (format!("collectionAddress={collection}&tokenId=-1"), vec!["tokenId"]),
        ("collectionAddress=x&tokenId=x&chainId=x".to_owned(), vec!["collectionAddress", "tokenId", "chainId"]),
    ] {
        let answer = Answer::of(stack.get(&format!("/moment?{query}"))).await.expect_error(400);
        assert_eq!(answer.failing_fields(), wrong, "{query}");
    }
}
