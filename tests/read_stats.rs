//! `GET /stats`

use alloy::primitives::Address;
use serde_json::{Value, json};
use tests::{Answer, Collector, Stack, within_one_day};

const ETHER: u64 = 1_000_000_000_000_000_000;

fn order(collection: Address, amount: u64, sender: Option<Address>) -> Value {
    let moment = json!({"collectionAddress": collection, "tokenId": "1"});
    json!({"moment": moment, "amount": amount, "referral": sender})
}

async fn collect(stack: &Stack, buyer: &Collector, order: &Value) {
    stack.write("/moment/collect", &buyer.key, order, &[]).await.expect_success();
}

async fn stats(stack: &Stack, query: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    stack.wait_until(&format!("/stats?{query}"), is_so).await
}

/// An artist whose three moments were collected, the one for ether and the one for USDC once each through the sender.
struct Sales {
    artist: Address,
    sender: Address,
    /// The collection whose moment costs ether.
    paid: Address,
}

async fn sell(stack: &Stack) -> Sales {
    let (artist, one, two) = (stack.new_collector().await, stack.new_collector().await, stack.new_collector().await);
    let sender = stack.new_collector().await;
    for buyer in [&one, &two] {
        stack.set_balance(buyer.account, ETHER).await;
        stack.give_usdc(buyer.account, 9_000_000).await;
    }
    let sale = |price: u64| {
        let price = price.to_string();
        json!({"type": "fixedPrice", "pricePerToken": price, "saleStart": 0, "saleEnd": u64::MAX.to_string()})
    };
    let mut dollars = sale(1_000_000);
    (dollars["type"], dollars["currency"]) = (json!("erc20Mint"), json!(stack.contract("usdc")));
    let free = stack.publish(&artist.key, sale(0), json!({})).await;
    let paid = stack.publish(&artist.key, sale(ETHER / 1_000), json!({})).await;
    let usdc = stack.publish(&artist.key, dollars, json!({})).await;
    collect(stack, &one, &order(free, 3, None)).await;
    collect(stack, &one, &order(paid, 1, Some(sender.account))).await;
    collect(stack, &two, &order(paid, 2, None)).await;
    collect(stack, &two, &order(usdc, 1, Some(sender.account))).await;
    Sales { artist: artist.account, sender: sender.account, paid }
}

#[tokio::test]
async fn artist_and_collection_and_sender_see_what_became_of_their_moments() {
    let stack = Stack::connect();
    let (Sales { artist, sender, paid }, of_artist, periods) = within_one_day(&stack, async || {
        let sales = sell(&stack).await;
        let query = format!("artist={:#x}", sales.artist);
        let of_artist = stats(&stack, &query, |body| body["collected_count"] == 4).await;
        let mut periods = Vec::new();
        for period in ["day", "week", "month"] {
            periods.push(stats(&stack, &format!("{query}&period={period}"), |_| true).await);
        }
        (sales, of_artist, periods)
    })
    .await;
    let counts = [
        ("created_count", json!(3)),
        ("token_count", json!("7")),
        ("collector_count", json!(2)),
        ("eth_earned", json!("0.003")),
        // A twentieth is the protocol's.
        ("usdc_earned", json!("0.95")),
        ("referred_count", json!(2)),
        ("referral_count", json!(0)),
        ("since", Value::Null),
    ];
    for (name, count) in &counts {
        assert_eq!(&of_artist[name], count, "{name} of {of_artist}");
    }
    assert_eq!(of_artist["days"].as_array().map(Vec::len), Some(1));
    for today in periods {
        assert!(today["since"].as_u64().is_some_and(|since| since % 86_400 == 0), "{today}");
        for (name, count) in counts.iter().filter(|(name, _)| *name != "since") {
            assert_eq!(&today[name], count, "{name} of {today}");
        }
    }

    let of_collection = stats(&stack, &format!("collection={paid:#x}"), |body| body["collected_count"] == 2).await;
    assert_eq!(of_collection["collector_count"], 2, "{of_collection}");
    assert_eq!((&of_collection["eth_earned"], &of_collection["usdc_earned"]), (&json!("0.003"), &json!("0")));

    let of_sender = stats(&stack, &format!("artist={sender:#x}"), |body| body["referral_count"] == 2).await;
    assert_eq!(of_sender["referral_eth"], "0.000031714254", "{of_sender}");
    assert_eq!(of_sender["referral_usdc"], "0.014285", "{of_sender}");
    assert_eq!((&of_sender["created_count"], &of_sender["collected_count"]), (&json!(0), &json!(0)));
    assert_eq!(stats(&stack, &format!("artist={artist:#x}&chainId=1"), |_| true).await["collected_count"], 0);
}

#[tokio::test]
async fn either_an_artist_or_a_collection_is_named() {
    let stack = Stack::connect();
    let account = Address::repeat_byte(0x51);
    for query in ["", "?artist=0x1", &format!("?artist={account}&collection={account}")] {
        let answer = Answer::of(stack.get(&format!("/stats{query}"))).await.expect_error(400);
        assert_eq!(answer.failing_fields(), ["artist"], "{query}");
    }
    let answer = Answer::of(stack.get(&format!("/stats?artist={account}&period=year"))).await.expect_error(400);
    assert_eq!(answer.failing_fields(), ["period"]);
    let nobody = Answer::of(stack.get("/stats?artist=nobody.of.this.name")).await.expect_success();
    assert_eq!((&nobody.body["collected_count"], &nobody.body["days"]), (&json!(0), &json!([])));
}
