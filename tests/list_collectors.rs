//! `GET /collectors`

use alloy::{primitives::U256, providers::ext::AnvilApi};
use serde_json::{Value, json};
use shared::{
    model::{Address, Amount, ArtistId, Period, RankedBy, Spending},
    store::chain::{Leaderboard, LeaderboardScope, RankedCollector},
};
use tests::{Answer, Call, Recorder, Sandbox, Stack, empty_tables};

const ONE_OF_BOTH: &str = "An artist's collectors are ranked over all chains: leave out chainId";

#[tokio::test]
async fn every_invalid_parameter_is_named() {
    let stack = Stack::connect();
    for (query, fields) in [
        ("period=year", vec!["period"]),
        ("limit=0", vec!["limit"]),
        ("limit=101", vec!["limit"]),
        ("page=0", vec!["page"]),
        ("page=-1", vec!["page"]),
        ("artist=a", vec!["artist"]),
        ("chainId=137", vec!["chainId"]),
        ("sort_by=unknown", vec!["sort_by"]),
        ("sort_order=random", vec!["sort_order"]),
        (
            "period=x&limit=x&page=x&artist=x&sort_by=x&sort_order=x",
            vec!["period", "limit", "page", "artist", "sort_by", "sort_order"],
        ),
    ] {
        let answer = Answer::of(stack.get(&format!("/collectors?{query}"))).await.expect_error(400);
        assert_eq!(answer.failing_fields(), fields, "{query}");
    }
}

#[tokio::test]
async fn artist_without_collectors_has_an_empty_ranking() {
    let stack = Stack::connect();
    let query = format!("artist=0x{}&period=day&page=7&limit=100&sort_by=eth_spent&sort_order=asc", "Ab".repeat(20));
    let answer = Answer::of(stack.get(&format!("/collectors?{query}"))).await.expect_success();
    assert_eq!(answer.body, json!({"collectors": [], "page": 7, "total_count": 0, "total_pages": 0}));
    assert_eq!(
        (answer.header("link"), answer.header("cache-control")),
        ("", "public, max-age=5, stale-while-revalidate=10, stale-if-error=86400")
    );
    assert!(answer.header("etag").starts_with("W/"));
}

#[tokio::test]
async fn collector_is_ranked_once_the_block_is_final() {
    let stack = Stack::connect();
    let (artist, buyer) = (stack.new_collector().await, stack.new_collector().await);
    let collection = stack.release(&artist.key, "Ranked", &["ar://1".to_owned()]).await;
    stack.set_balance(buyer.account, 1_000_000_000_000_000_000).await;
    let order = json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "amount": 2, "comment": ""});
    stack.write("/moment/collect", &buyer.key, &order, &[]).await.expect_success();
    stack.chain().anvil_mine(Some(3), None).await.expect("blocks");

    let path = format!("/collectors?artist={}&period=day&sort_by=eth_spent", artist.artist.wallet);
    let is_ranked = |body: &Value| body["collectors"].as_array().is_some_and(|rows| !rows.is_empty());
    let ranked = stack.wait_until(&path, is_ranked).await;
    let mut collector = ranked["collectors"][0].clone();
    assert!(collector["artist_id"].take().is_string());
    assert_eq!(
        collector,
        json!({
            "artist_id": null, "username": "", "wallets": [{"address": buyer.artist.wallet, "type": "embedded"}],
            "collected_count": 1, "eth_spent": "0.000000000000002", "usdc_spent": "0",
        })
    );
    assert_eq!(ranked["collectors"].as_array().map(Vec::len), Some(1));

    // Each chain has a ranking of its own, of everyone.
    stack.wait_until("/collectors?chainId=8453", |body| body["total_count"].as_u64() > Some(0)).await;
    let both = format!("/collectors?chainId=1&artist={}", artist.artist.wallet);
    assert_eq!(Answer::of(stack.get(&both)).await.expect_error(422).body["message"], ONE_OF_BOTH);
}

#[tokio::test]
async fn page_cost_does_not_depend_on_the_number_of_collectors() {
    let stack = Stack::connect();
    let (few, many) = (Loaded::with(&stack, 100).await, Loaded::with(&stack, 100_000).await);
    let cost = async |loaded: &Loaded, query| Cost::of(&loaded.get(query).await.1);
    let first = cost(&few, "page=1").await;
    assert_eq!(first, cost(&many, "page=1").await);
    assert_eq!(first, cost(&many, "page=1&sort_order=asc").await);
    // A page may begin anywhere in its bucket, so up to 128 rows of it are read besides.
    for query in ["page=2", "page=2500", "page=5000", "page=5000&sort_order=asc"] {
        let Cost { operations, units } = cost(&many, query).await;
        let expected = ["BatchGetItem", "GetItem", "Query", "BatchGetItem"];
        assert!(operations == expected || operations == ["BatchGetItem", "Query", "BatchGetItem"], "{operations:?}");
        assert!(units <= first.units + 5.0, "{query}: {units}, {first:?}");
    }

    let (body, _) = many.get("page=5000").await;
    assert_eq!(body["page"], 5_000);
    let shown: Vec<_> = many.expected().into_iter().skip(99_980).collect();
    assert_eq!(body["collectors"], Value::from(shown));
    assert_eq!(many.get("page=5001").await.0["collectors"], json!([]));
    let turned: Vec<_> = many.expected().into_iter().rev().skip(60).take(20).collect();
    assert_eq!(many.get("page=4&sort_order=asc").await.0["collectors"], Value::from(turned));
}

/// What a page costs.
#[derive(Debug, PartialEq)]
struct Cost {
    operations: Vec<String>,
    units: f64,
}

impl Cost {
    fn of(calls: &[Call]) -> Self {
        let mut operations: Vec<_> = calls.iter().map(|call| call.operation.clone()).collect();
        // The first page's calls are concurrent.
        if operations.len() == 3 && operations[0] != "BatchGetItem" {
            operations.sort();
        }
        Self { operations, units: calls.iter().map(|call| call.capacity).sum() }
    }
}

/// A separate `list-collectors` with a prepared ranking.
struct Loaded {
    sandbox: Sandbox,
    recorder: Recorder,
    collectors: Vec<RankedCollector>,
}

impl Loaded {
    async fn with(stack: &Stack, count: u64) -> Self {
        let collectors: Vec<_> = (0..count).map(collector).collect();
        let ranking = Leaderboard { scope: LeaderboardScope::All, period: Period::All, by: RankedBy::EthSpent };
        let set = ranking.set();
        let mut loader = set.loader();
        let rows = collectors.iter().map(|collector| {
            loader.member(ranking.place(collector.artist_id, collector.spending), collector).expect("a row")
        });
        let database = empty_tables(stack).await;
        database.load("ChainTable", rows).expect("the collectors are loaded");
        database.load("ChainTable", loader.finish().expect("rows")).expect("the tree is loaded");
        let recorder = Recorder::in_front_of(&database.endpoint).await.expect("a recorder");
        let sandbox = Sandbox::with_database(stack, "list-collectors", &recorder.url).await;
        Self { sandbox, recorder, collectors }
    }

    /// A page of 20 and its database calls.
    async fn get(&self, query: &str) -> (Value, Vec<Call>) {
        let answer = self.sandbox.get(&format!("sort_by=eth_spent&{query}")).await;
        let body = serde_json::from_str(answer["body"].as_str().expect("a body")).expect("JSON");
        (body, self.recorder.take_calls())
    }

    /// All collectors as the service shows them, the biggest spender first.
    fn expected(&self) -> Vec<Value> {
        let mut sorted = self.collectors.clone();
        sorted.sort_by_key(|collector| (std::cmp::Reverse(collector.spending.eth_spent), collector.artist_id));
        sorted.iter().map(show).collect()
    }
}

/// Every two consecutive collectors have spent the same.
fn collector(number: u64) -> RankedCollector {
    let wallet: Address = format!("0x{:040x}", U256::from(number)).parse().expect("an address");
    let eth_spent = Amount(U256::from(number / 2 + 1) * U256::from(1_000_000_000_000_000_u64));
    let usdc_spent = Amount(U256::from(number % 7));
    let spending = Spending { collected_count: number % 50 + 1, eth_spent, usdc_spent };
    RankedCollector { artist_id: ArtistId::of_wallet(wallet), wallet, spending }
}

fn show(collector: &RankedCollector) -> Value {
    let milli: u64 = (collector.spending.eth_spent.0 / U256::from(1_000_000_000_000_000_u64)).to();
    let (whole, fraction) = (milli / 1_000, format!(".{:03}", milli % 1_000));
    json!({
        "artist_id": collector.artist_id,
        "username": "",
        "wallets": [{"address": collector.wallet, "type": "external"}],
        "collected_count": collector.spending.collected_count,
        "eth_spent": format!("{whole}{}", fraction.trim_end_matches('0').trim_end_matches('.')),
        "usdc_spent": match collector.spending.usdc_spent.0.to::<u64>() {
            0 => "0".to_owned(),
            millionths => format!("0.00000{millionths}"),
        },
    })
}
