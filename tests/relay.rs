//! The relay through all functions: who can't stop whom, and lanes that change while it works.

use std::{
    collections::{BTreeMap, HashMap},
    process::Command,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    time::{Duration, Instant},
};

use alloy::{primitives::Address, providers::Provider};
use aws_sdk_dynamodb::{Client, types::AttributeValue};
use futures::{StreamExt, future::join_all, stream};
use local::paths::Paths;
use serde_json::{Value, json};
use tests::{Collector, DAY, Sandbox, Stack, empty_tables, window_now};

use crate::transactions::{QUIET_CHAIN, copy_artist, quiet, quiet_relay};

const NEWCOMERS: usize = 40;
/// Calls of one function at once.
const AT_ONCE: usize = 16;

async fn newcomers(stack: &Stack, count: usize) -> Vec<Collector> {
    stream::iter(0..count).map(|_| stack.new_collector()).buffered(4).collect().await
}

async fn create(function: &Sandbox, key: &str, name: &str) -> Value {
    let mut event = function.event();
    event["headers"]["x-api-key"] = json!(key);
    event["body"] = json!({"name": name, "uri": "ar://quiet", "chainId": QUIET_CHAIN}).to_string().into();
    function.write(&event).await
}

/// Makes an artist one who has been there for long, and whose moments were collected often.
async fn establish(stack: &Stack, artist: &Collector) {
    let number = |value: u64| AttributeValue::N(value.to_string());
    let wallet = artist.artist.wallet.to_lowercase();
    let owner = stack.row("ArtistTable", &format!("WALLET#{wallet}"), "ARTIST").await.expect("a wallet");
    let id = owner["artist_id"].as_s().expect("an id");
    stack.set("ArtistTable", &format!("ARTIST#{id}"), "PROFILE", "created_at", number(1)).await;
    let counts = HashMap::from([("paid".to_owned(), number(10))]);
    let today = number(window_now(DAY));
    let day = HashMap::from([("day".to_owned(), today), ("counts".to_owned(), AttributeValue::M(counts.clone()))]);
    let stats = format!("STATS#{QUIET_CHAIN}#ARTIST#{wallet}");
    stack.set("ChainTable", &stats, "STATS", "total", AttributeValue::M(counts)).await;
    stack.set("ChainTable", &stats, "STATS", "days", AttributeValue::L(vec![AttributeValue::M(day)])).await;
}

#[tokio::test]
async fn forty_new_accounts_that_spend_all_they_can_stop_no_established_artist() {
    let stack = Stack::connect();
    let _quiet = quiet(&stack).await;
    let mut chains: Value = serde_json::from_str(&stack.map.names["Chains"]).expect("JSON");
    let artists = newcomers(&stack, NEWCOMERS + 1).await;
    let (established, newcomers) = artists.split_first().expect("artists");
    establish(&stack, established).await;
    let with = async |newcomers_daily: u64| {
        let chain = chains.as_array_mut().expect("chains").iter_mut().find(|chain| chain["id"] == QUIET_CHAIN);
        chain.expect("the chain")["spending"]["newcomersDaily"] = json!(newcomers_daily);
        let variables = [("CHAINS", chains.to_string())];
        let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        Sandbox::crowd(&stack, "create-collection", &variables, &stack.map.dynamodb, AT_ONCE).await
    };
    let mut with = with;
    // What the newcomers may spend is what some thirty collections cost.
    let rich = with(u64::MAX).await;
    let began_on = window_now(DAY);
    let spent = async || {
        let (dynamodb, mut counters) = (stack.dynamodb().await, BTreeMap::new());
        // A day may end between the write and this.
        for day in began_on..=window_now(DAY) {
            let rows = dynamodb.query().table_name("ArtistTable").key_condition_expression("pk = :pk");
            let pk = AttributeValue::S(format!("POOL#{QUIET_CHAIN}#{day}"));
            let rows = rows.expression_attribute_values(":pk", pk).send().await.expect("an answer");
            let is_of_newcomers = |sk: &String| sk.starts_with("NEWCOMERS");
            for row in rows.items().iter().filter(|row| row["sk"].as_s().is_ok_and(is_of_newcomers)) {
                let spent = row["spent"].as_n().expect("a number").parse::<u64>().expect("wei");
                counters.insert((day, row["sk"].as_s().expect("a key").clone()), spent);
            }
        }
        counters
    };
    // Other writes of today are in the same counters.
    let before = spent().await;
    let first = create(&rich, &newcomers[0].key, "First").await;
    assert_eq!(first["statusCode"], 200, "{first}");
    let after = spent().await;
    let costs = after.iter().map(|(counter, wei)| wei.saturating_sub(before.get(counter).copied().unwrap_or_default()));
    let cost = costs.max().expect("a counter");
    let poor = with(before.values().sum::<u64>() + 8 * 5 * cost).await;

    let (refused, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    let flood = async {
        let all = newcomers.iter().flat_map(|artist| [(artist, "One"), (artist, "Two"), (artist, "Three")]);
        let one = async |(artist, name): (&Collector, &str)| {
            let answer = create(&poor, &artist.key, name).await;
            let is_refused =
                answer["statusCode"] == 503 && answer.to_string().contains("budget of today for new artists");
            assert!(is_refused || answer["statusCode"] == 200, "{answer}");
            refused.fetch_add(usize::from(is_refused), Relaxed);
        };
        stream::iter(all).for_each_concurrent(AT_ONCE - 1, one).await;
        done.store(true, Relaxed);
    };
    let writes = async {
        let mut times = Vec::new();
        while !done.load(Relaxed) || times.is_empty() {
            let start = Instant::now();
            let answer = create(&poor, &established.key, &format!("Number {}", times.len())).await;
            assert_eq!(answer["statusCode"], 200, "{answer}");
            times.push(start.elapsed());
        }
        times
    };
    let ((), times) = tokio::join!(flood, writes);
    let refused = refused.into_inner();
    println!("{refused} of {} newcomers' writes refused; an established artist's took {times:.1?}", 3 * NEWCOMERS);
    assert!(refused > 0, "the pool isn't used up");
    // What the flood reserved and didn't use came back when its writes ended.
    let mut last = create(&poor, &newcomers[1].key, "Last").await;
    for number in 0..3 * NEWCOMERS {
        if last["statusCode"] == 503 {
            break;
        }
        last = create(&poor, &newcomers[number % NEWCOMERS].key, &format!("More {number}")).await;
    }
    assert_eq!(last["statusCode"], 503, "{last}");
    assert_eq!(create(&poor, &established.key, "After").await["statusCode"], 200);
}

/// Runs `local operator execute` on the quiet chain with these lanes.
async fn operate(stack: &Stack, lanes: &[String]) {
    let variables = [
        ("RPC_URLS", json!({ QUIET_CHAIN.to_string(): [&stack.map.rpc[&QUIET_CHAIN.to_string()]] }).to_string()),
        ("OPERATOR_LANES", lanes.join(",")),
        ("OPERATOR_GUARDIAN", stack.map.names["OperatorGuardian"].clone()),
        ("OPERATOR_GUARDIAN_KEY", stack.map.names["OperatorGuardianKey"].clone()),
        ("LOW_LANE_BALANCE", "1".to_owned()),
    ];
    let paths = Paths::of_checkout();
    let mut command = Command::new(paths.binary("local"));
    command
        .args(["operator", "execute"])
        .current_dir(paths.root())
        .envs(variables)
        .envs(stack.endpoints().environment());
    let ended = tokio::task::spawn_blocking(move || command.output()).await.expect("no panic").expect("the command");
    let told = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{told}");
}

#[tokio::test]
async fn lane_is_replaced_while_writes_run_and_none_fails() {
    const ARTISTS: usize = 6;
    let stack = Stack::connect();
    let _quiet = quiet(&stack).await;
    let artists = newcomers(&stack, ARTISTS).await;
    let database = empty_tables(&stack).await;
    let function = Sandbox::crowd(&stack, "create-collection", &[], &database.endpoint, AT_ONCE).await;
    let copy = Client::new(&function.endpoints.sdk_config(&database.endpoint).await);
    for artist in &artists {
        copy_artist(&stack.dynamodb().await, &copy, &artist.artist.wallet).await;
    }
    let list = |name: &str| stack.map.names[name].split(',').map(str::to_owned).collect::<Vec<_>>();
    let (before, keys) = (list("OperatorLanes"), list("OperatorLaneKeys"));
    let ([former, lane_text, ..], [former_key, key, ..]) = (before.as_slice(), keys.as_slice()) else {
        panic!("the stack has fewer than two lanes");
    };
    let (chain, lane) = (stack.node_of(&QUIET_CHAIN.to_string()), lane_text.parse().expect("an address"));
    operate(&stack, std::slice::from_ref(former)).await;

    let relay = async |lane: &str, key: &str| {
        let variables = [("OPERATOR_LANES", lane), ("OPERATOR_LANE_KEYS", key)];
        quiet_relay(&stack, &variables, &database.endpoint).await
    };
    let (old, new) = (relay(former, former_key).await, relay(lane_text, key).await);
    let (is_replaced, done, answered) = (AtomicBool::new(false), AtomicBool::new(false), AtomicUsize::new(0));
    let wake = async {
        while !done.load(Relaxed) {
            let relay = if is_replaced.load(Relaxed) { &new } else { &old };
            relay.invoke(&json!({})).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let writes = async {
        let one = async |(index, artist): (usize, &Collector)| {
            let mut number = 0;
            // As long as the change takes, and some more.
            let mut more = 3;
            while more > 0 {
                more -= usize::from(is_replaced.load(Relaxed));
                let answer = create(&function, &artist.key, &format!("{index} {number}")).await;
                assert_eq!(answer["statusCode"], 200, "{answer}");
                answered.fetch_add(1, Relaxed);
                number += 1;
            }
        };
        join_all(artists.iter().enumerate().map(one)).await;
        done.store(true, Relaxed);
    };
    let change = async {
        while answered.load(Relaxed) < ARTISTS {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        operate(&stack, &[former.clone(), lane_text.clone()]).await;
        is_replaced.store(true, Relaxed);
        operate(&stack, std::slice::from_ref(lane_text)).await;
    };
    let used = async |lane: Address| chain.get_transaction_count(lane).await.expect("a nonce");
    let before_writes = used(lane).await;
    tokio::join!(wake, writes, change);
    let (total, sent) = (answered.into_inner(), used(lane).await - before_writes);
    println!("{total} writes, the new lane sent {sent} transactions");
    assert!(sent > 0, "the new lane did nothing");
    // The stack's own relay needs its lane.
    operate(&stack, &before).await;
}
