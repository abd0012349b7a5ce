//! `GET /transfers` and `GET /moment/collectors`

use alloy::primitives::{Address, Bytes, U256};
use alloy::sol;
use serde_json::{Value, json};
use tests::{Answer, Stack, document, fields};

const ETHER: u64 = 1_000_000_000_000_000_000;

sol! {
    function safeTransferFrom(address from, address to, uint256 id, uint256 amount, bytes data) external;
}

fn types(body: &Value) -> Vec<&str> {
    let rows = body["transfers"].as_array().expect("rows").iter();
    rows.map(|row| row["type"].as_str().expect("a type")).collect()
}

/// Metadata and previews come later than rows, so that two pages of the same rows may differ in them.
fn ids<'a>(rows: impl IntoIterator<Item = &'a Value>) -> Vec<&'a Value> {
    rows.into_iter().map(|row| &row["id"]).collect()
}

#[tokio::test]
async fn transfers_are_listed_by_artist_collector_and_moment() {
    let stack = Stack::connect();
    let (artist, buyer) = (stack.new_collector().await, stack.new_collector().await);
    let name = format!("giver-{}", &uuid::Uuid::new_v4().simple().to_string()[..8]);
    let named = stack.patch("/artists/me").bearer_auth(&artist.artist.token).json(&json!({"username": name}));
    Answer::of(named).await.expect_success();
    let collection = stack.release(&artist.key, "Given", &[document("1", "image/png"), "ar://2".to_owned()]).await;
    stack.set_balance(buyer.account, ETHER).await;
    let moment = |token: &str| json!({"collectionAddress": collection, "tokenId": token});
    let order = json!({"moment": moment("1"), "amount": 3});
    stack.write("/moment/collect", &buyer.key, &order, &[]).await.expect_success();
    let (friend, holder) = (buyer.account.create(1), buyer.account.create(2));
    let gift = json!({"moment": moment("2"), "recipients": [friend, holder]});
    stack.write("/moment/airdrop", &artist.key, &gift, &[]).await.expect_success();
    let contract: Address = collection.parse().expect("an address");
    use alloy::providers::ext::AnvilApi;
    stack.chain().anvil_impersonate_account(holder).await.expect("an account");
    stack.set_balance(holder, ETHER).await;
    let pass =
        safeTransferFromCall { from: holder, to: friend, id: U256::from(2), amount: U256::ONE, data: Bytes::new() };
    stack.transact(holder, contract, U256::ZERO, pass).await;

    let (wallet, collector) = (&artist.artist.wallet, &buyer.artist.wallet);
    let path = format!("/transfers?artist={wallet}");
    let all = stack.wait_until(&path, |body| body["pagination"]["total_count"] == 4).await;
    assert_eq!(types(&all), ["transfer", "airdrop", "airdrop", "payment"]);
    let expected = ids(all["transfers"].as_array().expect("rows"));
    assert_eq!(ids(&stack.all_pages(&path, "transfers", 1).await), expected);
    let by_name = Answer::of(stack.get(&format!("/transfers?artist={name}&chainId=8453"))).await.expect_success();
    assert_eq!(ids(by_name.body["transfers"].as_array().expect("rows")), expected);
    let paid = &all["transfers"][3];
    assert_eq!(
        fields(paid),
        [
            "collector",
            "currency",
            "from",
            "id",
            "moment",
            "quantity",
            "transaction_hash",
            "transferred_at",
            "type",
            "value"
        ]
    );
    assert_eq!((&paid["quantity"], &paid["value"]), (&json!("3"), &json!("0.000000000000003")));
    assert_eq!(paid["collector"], json!({"address": collector, "username": ""}));
    assert_eq!(paid["moment"]["collection"]["artist"], json!({"address": wallet, "username": name}));
    assert_eq!(paid["moment"]["collection"]["name"], "Given");
    let passed = &all["transfers"][0];
    assert_eq!((&passed["from"], &passed["value"]), (&json!(format!("{holder:#x}")), &json!(null)));

    for (query, expected, count) in [
        (format!("type=airdrop&artist={wallet}"), vec!["airdrop", "airdrop"], json!(2)),
        (format!("type=payment&artist={wallet}"), vec!["payment"], json!(1)),
        (format!("collector={collector}"), vec!["payment"], json!(1)),
        (format!("collector={friend:#x}"), vec!["transfer", "airdrop"], json!(2)),
        (format!("collector={friend:#x}&type=transfer&chainId=8453"), vec!["transfer"], json!(1)),
        (format!("collector={collector}&chainId=1"), vec![], json!(0)),
        (format!("collection={collection}&tokenId=2"), vec!["transfer", "airdrop", "airdrop"], json!(3)),
        (format!("collection={collection}&tokenId=2&type=airdrop"), vec!["airdrop", "airdrop"], json!(null)),
        (format!("collection={collection}&tokenId=1&collector={collector}"), vec!["payment"], json!(null)),
        (format!("collection={collection}"), vec!["transfer", "airdrop", "airdrop", "payment"], json!(null)),
        ("artist=nobody-has-this-name".to_owned(), vec![], json!(0)),
    ] {
        let body = Answer::of(stack.get(&format!("/transfers?{query}"))).await.expect_success().body;
        assert_eq!((types(&body), &body["pagination"]["total_count"]), (expected, &count), "{query}");
    }
    let pictures = format!("/transfers?artist={wallet}&content_type=image");
    let pictures = stack.wait_until(&pictures, |body| types(body) == ["payment"]).await;
    assert_eq!(pictures["transfers"][0]["moment"]["metadata"]["name"], "1");
    let everyones = Answer::of(stack.get("/transfers?limit=100")).await.expect_success();
    assert!(types(&everyones.body).len() > 4);

    let path = format!("/moment/collectors?collectionAddress={collection}&tokenId=2");
    let body = Answer::of(stack.get(&path)).await.expect_success().body;
    assert_eq!(body["pagination"], json!({"page": 1, "limit": 20, "total_count": 3, "total_pages": 1}));
    let collectors = body["collectors"].as_array().expect("rows");
    let shown: Vec<_> = collectors.iter().map(|row| (&row["collector"], &row["type"], &row["amount"])).collect();
    let (to_friend, airdrop, one) = (json!(format!("{friend:#x}")), json!("airdrop"), json!("1"));
    assert_eq!(shown[0], (&to_friend, &json!("transfer"), &one));
    assert!(shown.contains(&(&to_friend, &airdrop, &one)), "{body}");
    assert_eq!(json!(stack.all_pages(&path, "collectors", 1).await), body["collectors"]);
}

#[tokio::test]
async fn paid_and_free_collects_come_in_the_order_of_the_chain() {
    let stack = Stack::connect();
    let (artist, buyer) = (stack.new_collector().await, stack.new_collector().await);
    let collection = stack.release(&artist.key, "Mixed", &["ar://paid".to_owned()]).await;
    let sale = json!({"type": "fixedPrice", "pricePerToken": "0", "saleStart": 0, "saleEnd": u64::MAX.to_string()});
    let token = json!({"tokenMetadataURI": "ar://free", "salesConfig": sale});
    let body = json!({"contract": {"address": collection}, "token": token});
    stack.write("/moment/create", &artist.key, &body, &[]).await.expect_success();
    stack.set_balance(buyer.account, ETHER).await;
    const ORDER: [&str; 5] = ["1", "2", "2", "1", "2"];
    for token in ORDER {
        let order = json!({"moment": {"collectionAddress": collection, "tokenId": token}, "amount": 1});
        stack.write("/moment/collect", &buyer.key, &order, &[]).await.expect_success();
    }

    let (wallet, collector) = (&artist.artist.wallet, &buyer.artist.wallet);
    let tokens = |body: &Value| -> Vec<String> {
        let rows = body["transfers"].as_array().expect("rows").iter();
        rows.map(|row| row["moment"]["token_id"].as_str().expect("a token").to_owned()).collect()
    };
    let expected: Vec<String> = ORDER.into_iter().rev().map(str::to_owned).collect();
    let path = format!("/transfers?artist={wallet}&type=payment");
    let all = stack.wait_until(&path, |body| body["pagination"]["total_count"] == 5).await;
    assert_eq!((types(&all), tokens(&all)), (vec!["payment"; 5], expected.clone()));
    assert_eq!(all["transfers"][0]["value"], "0");
    for query in [format!("artist={wallet}"), format!("collector={collector}&type=payment&chainId=8453")] {
        let path = format!("/transfers?{query}");
        let body = Answer::of(stack.get(&path)).await.expect_success().body;
        assert_eq!(body["transfers"], all["transfers"], "{query}");
        assert_eq!(json!(stack.all_pages(&path, "transfers", 2).await), all["transfers"], "{query}");
    }
    for (token, count) in [("1", 2), ("2", 3)] {
        let path = format!("/moment/collectors?collectionAddress={collection}&tokenId={token}");
        let body = Answer::of(stack.get(&path)).await.expect_success().body;
        assert_eq!(body["pagination"]["total_count"], count, "{body}");
        let path = format!("/transfers?collection={collection}&tokenId={token}&type=payment");
        let body = Answer::of(stack.get(&path)).await.expect_success().body;
        assert_eq!(tokens(&body), vec![token; count], "{body}");
    }
}

#[tokio::test]
async fn every_invalid_parameter_is_named() {
    let stack = Stack::connect();
    let address = format!("0x{}", "9".repeat(40));
    for (query, wrong) in [
        ("type=gift&artist=a&collector=b&collection=x".to_owned(), vec!["type", "artist", "collector", "collection"]),
        (format!("artist={address}&collector={address}"), vec!["collector"]),
        ("tokenId=1".to_owned(), vec!["tokenId"]),
        (format!("tokenId=x&collection={address}"), vec!["tokenId"]),
        ("content_type=x&chainId=7&limit=101&page=0".to_owned(), vec!["content_type", "chainId", "limit", "page"]),
    ] {
        let answer = Answer::of(stack.get(&format!("/transfers?{query}"))).await.expect_error(400);
        let (mut found, mut wrong) = (answer.failing_fields(), wrong);
        found.sort();
        wrong.sort_unstable();
        assert_eq!(found, wrong, "{query}");
    }
    Answer::of(stack.get("/moment/collectors?tokenId=x")).await.expect_error(400);
}
