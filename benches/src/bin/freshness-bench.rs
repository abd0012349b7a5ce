//! Measures how fresh reads are over the stack's real processes, with workers on an account's schedule
//! (`KEEP_SCHEDULE=1 local bench`) and a block every two seconds: from a write's 200 until reads show it.

use std::time::{Duration, Instant};

use alloy::providers::ext::AnvilApi;
use futures::{
    StreamExt,
    future::{join_all, join3, try_join_all},
    stream,
};
use local::Error;
use serde_json::{Value, json};
use tests::{Answer, Collector, Stack};

const SECONDS_A_BLOCK: u64 = 2;
/// Artists who write at the same time, each with a collector.
const ARTISTS: usize = 4;
/// Moments that each publishes, one after another.
const MOMENTS: usize = 12;
const POLL: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(150);
const BALANCE: u64 = 1_000_000_000_000_000_000;

/// Times from the writes' answers, by what shows them.
#[derive(Default)]
struct Times {
    moment: Vec<Duration>,
    timeline: Vec<Duration>,
    content_type: Vec<Duration>,
    comment: Vec<Duration>,
    ranking: Vec<Duration>,
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let stack = Stack::connect();
    let people: Vec<(Collector, Collector)> = stream::iter(0..ARTISTS)
        .map(async |_| (stack.new_collector().await, stack.new_collector().await))
        .buffered(2)
        .collect()
        .await;
    for (_, collector) in &people {
        stack.set_balance(collector.account, BALANCE).await;
    }
    // Deploys the accounts.
    join_all(people.iter().map(|(artist, _)| publish(&stack, artist, "first".to_owned()))).await;
    stack.chain().anvil_set_auto_mine(false).await?;
    stack.chain().anvil_set_interval_mining(SECONDS_A_BLOCK).await?;
    let measured = try_join_all(people.iter().map(|(artist, collector)| measure(&stack, artist, collector))).await;
    stack.chain().anvil_set_interval_mining(0).await?;
    stack.chain().anvil_set_auto_mine(true).await?;
    let measured = measured?;
    println!("| seconds from a write's 200 until it is in | p50 | p99 | samples |");
    println!("| --- | --- | --- | --- |");
    let all = |of: fn(&Times) -> &Vec<Duration>| measured.iter().flat_map(of).copied().collect::<Vec<_>>();
    print("`GET /moment`", all(|times| &times.moment));
    print("`GET /timeline`", all(|times| &times.timeline));
    print("`GET /timeline?content_type=`", all(|times| &times.content_type));
    print("`GET /comments`", all(|times| &times.comment));
    print("`GET /collectors`, finality included", all(|times| &times.ranking));
    Ok(())
}

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at =
        |part: usize| times.get((times.len() * part / 100).min(times.len() - 1)).map_or(0.0, Duration::as_secs_f64);
    println!("| {what} | {:.2} | {:.2} | {} |", at(50), at(99), times.len());
}

async fn measure(stack: &Stack, artist: &Collector, collector: &Collector) -> Result<Times, Error> {
    let mut times = Times::default();
    for number in 0..MOMENTS {
        let (collection, start) = publish(stack, artist, format!("{number}-of-{:#x}", artist.account)).await;
        let moment = format!("/moment?collectionAddress={collection}&tokenId=1");
        let timeline = format!("/timeline?collection={collection}");
        let images = format!("{timeline}&content_type=image");
        let is_listed = |body: &Value| body["moments"].as_array().is_some_and(|moments| moments.len() == 1);
        let (moment, timeline, images) = join3(
            shown(stack, &moment, start, |_| true),
            shown(stack, &timeline, start, is_listed),
            shown(stack, &images, start, is_listed),
        )
        .await;
        times.moment.push(moment?);
        times.timeline.push(timeline?);
        times.content_type.push(images?);

        let place = json!({"collectionAddress": collection, "tokenId": "1"});
        let order = json!({"moment": place, "amount": 1, "comment": "Fresh"});
        stack.write("/moment/collect", &collector.key, &order, &[]).await.expect_success();
        let start = Instant::now();
        let comments = format!("/comments?collectionAddress={collection}&tokenId=1");
        let is_there = |body: &Value| body["comments"].as_array().is_some_and(|comments| comments.len() == 1);
        times.comment.push(shown(stack, &comments, start, is_there).await?);
        if times.ranking.is_empty() {
            // The artist's first payment.
            let path = format!("/collectors?artist={:#x}", artist.account);
            let is_ranked = |body: &Value| body["collectors"].as_array().is_some_and(|rows| !rows.is_empty());
            times.ranking.push(shown(stack, &path, start, is_ranked).await?);
        }
    }
    Ok(times)
}

/// Publishes a moment whose document is an image. Returns its collection, and when the answer came.
async fn publish(stack: &Stack, artist: &Collector, name: String) -> (String, Instant) {
    let document = json!({"name": name, "image": "ar://x", "content": {"mime": "image/png", "uri": "ar://x"}});
    let sale = json!({"type": "fixedPrice", "pricePerToken": "1000", "saleStart": 0, "saleEnd": u64::MAX.to_string()});
    let token = json!({"tokenMetadataURI": format!("data:application/json,{document}"), "salesConfig": sale});
    let body = json!({"contract": {"name": "Fresh", "uri": "ar://collection"}, "token": token});
    let answer = stack.write("/moment/create", &artist.key, &body, &[]).await.expect_success();
    let collection = answer.body["contractAddress"].as_str().unwrap_or_default().to_owned();
    (collection, Instant::now())
}

/// Time from `start` until `path` answers what is wanted.
async fn shown(
    stack: &Stack,
    path: &str,
    start: Instant,
    is_wanted: impl Fn(&Value) -> bool,
) -> Result<Duration, Error> {
    loop {
        let answer = Answer::of(stack.get(path)).await;
        if answer.status == 200 && is_wanted(&answer.body) {
            return Ok(start.elapsed());
        }
        if start.elapsed() > PATIENCE {
            return Err(format!("{path} didn't show it: {answer:?}").into());
        }
        tokio::time::sleep(POLL).await;
    }
}
