//! `GET /payments`

use serde_json::{Value, json};
use tests::{Answer, Collector, Stack, fields};

const ETHER: u64 = 1_000_000_000_000_000_000;

async fn collect(stack: &Stack, buyer: &Collector, collection: &str, amount: u64) -> String {
    let order = json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "amount": amount, "comment": ""});
    let answer = stack.write("/moment/collect", &buyer.key, &order, &[]).await.expect_success();
    answer.body["hash"].as_str().expect("a hash").to_owned()
}

#[tokio::test]
async fn payments_are_paged_newest_first_by_artist_and_collector() {
    let stack = Stack::connect();
    let (artist, buyer, other) =
        (stack.new_collector().await, stack.new_collector().await, stack.new_collector().await);
    let collection = stack.release(&artist.key, "Paid", &["ar://1".to_owned()]).await;
    let mut hashes = Vec::new();
    for (buyer, amount) in [(&buyer, 1), (&other, 2), (&buyer, 3)] {
        stack.set_balance(buyer.account, ETHER).await;
        hashes.insert(0, collect(&stack, buyer, &collection, amount).await);
    }
    let (artist, buyer) = (&artist.artist.wallet, &buyer.artist.wallet);
    let of_artist = format!("/payments?artist={artist}");
    let body = stack.wait_until(&of_artist, |body| body["payments"].as_array().map(Vec::len) == Some(3)).await;
    assert_eq!(fields(&body), ["pagination", "payments", "status"]);
    assert_eq!(body["pagination"], json!({"page": 1, "limit": 20, "total_count": 3, "total_pages": 1}));
    let newest = &body["payments"][0];
    assert_eq!(
        fields(newest),
        ["amount", "buyer", "currency", "id", "moment", "referral", "transaction_hash", "transferred_at"]
    );
    assert_eq!((&newest["amount"], &newest["transaction_hash"]), (&json!("0.000000000000003"), &json!(hashes[0])));
    assert_eq!(newest["currency"], format!("0x{}", "0".repeat(40)));
    assert_eq!(newest["buyer"], json!({"address": buyer, "username": ""}));
    assert!(newest["transferred_at"].as_str().is_some_and(|time| time.ends_with("+00:00")), "{newest}");
    let moment = &newest["moment"];
    assert_eq!(fields(moment), ["collection", "fee_recipients", "id", "token_id", "uri"]);
    assert_eq!((&moment["token_id"], &moment["uri"]), (&json!("1"), &json!("ar://1")));
    assert_eq!(moment["collection"], json!({"address": collection, "chain_id": 8453, "creator": artist}));
    assert_eq!(moment["fee_recipients"], json!([{"artist_address": artist, "percent_allocation": 100}]));

    let of = |rows: Vec<Value>| rows.iter().map(|row| row["transaction_hash"].clone()).collect::<Vec<_>>();
    for limit in [1, 2, 3] {
        assert_eq!(of(stack.all_pages(&of_artist, "payments", limit).await), hashes, "{limit} a page");
    }
    let of_buyer = format!("/payments?collector={buyer}");
    assert_eq!(of(stack.all_pages(&of_buyer, "payments", 1).await), [hashes[0].as_str(), &hashes[2]]);
    let of_both = format!("/payments?collector={buyer}&artist={artist}&chainId=8453");
    assert_eq!(of(stack.all_pages(&of_both, "payments", 1).await), [hashes[0].as_str(), &hashes[2]]);
    let nobodys = format!("/payments?collector={artist}&artist={buyer}");
    assert_eq!(stack.all_pages(&nobodys, "payments", 1).await, Vec::<Value>::new());
    let everyones = Answer::of(stack.get("/payments?limit=100")).await.expect_success();
    assert!(everyones.body["payments"].as_array().is_some_and(|all| all.len() > 3), "{everyones:?}");
}

#[tokio::test]
async fn split_recipients_are_listed_with_their_shares() {
    let stack = Stack::connect();
    let (artist, buyer) = (stack.new_collector().await, stack.new_collector().await);
    let [one, two] = ["0x1111111111111111111111111111111111111111", "0x2222222222222222222222222222222222222222"];
    let body = json!({
        "contract": {"name": "Shared", "uri": "ar://shared"},
        "token": {
            "tokenMetadataURI": "ar://1",
            "salesConfig": {"type": "fixedPrice", "pricePerToken": "1000", "saleStart": 0, "saleEnd": u64::MAX},
        },
        "splits": [{"address": one, "percentAllocation": 33.5}, {"address": two, "percentAllocation": 66.5}],
    });
    let made = stack.write("/moment/create", &artist.key, &body, &[]).await.expect_success();
    stack.set_balance(buyer.account, ETHER).await;
    collect(&stack, &buyer, made.body["contractAddress"].as_str().expect("an address"), 1).await;
    let path = format!("/payments?artist={}", artist.artist.wallet);
    let body = stack.wait_until(&path, |body| body["payments"].as_array().map(Vec::len) == Some(1)).await;
    let mut parts = body["payments"][0]["moment"]["fee_recipients"].as_array().expect("recipients").clone();
    parts.sort_by_key(|part| part["artist_address"].to_string());
    assert_eq!(
        json!(parts),
        json!([
            {"artist_address": one, "percent_allocation": 33.5},
            {"artist_address": two, "percent_allocation": 66.5},
        ])
    );
}

#[tokio::test]
async fn every_invalid_parameter_is_named() {
    let stack = Stack::connect();
    for (query, wrong) in [
        ("artist=a", vec!["artist"]),
        ("collector=0x1", vec!["collector"]),
        ("chainId=7", vec!["chainId"]),
        ("artist=x&collector=x&chainId=x&limit=x&page=x", vec!["artist", "collector", "chainId", "limit", "page"]),
    ] {
        let answer = Answer::of(stack.get(&format!("/payments?{query}"))).await.expect_error(400);
        assert_eq!(answer.failing_fields(), wrong, "{query}");
    }
}
