use std::{collections::BTreeMap, fs, time::Duration};

use local::Error;
use tests::Stack;
use tokio::task::JoinSet;

use super::{
    honest::{Honest, KINDS},
    open_loop,
    record::Taken,
    setting,
};

/// Seconds of a step on the way up.
const STEP: u64 = 15;

/// Raises a mix as of a real day (90 % reads, 8 % sign-ins, 2 % writes) by halves until it breaks: less than 99 % succeed,
/// or reads take five times as long as at first. Then holds half of that, and tells what grew.
pub async fn measure() -> Result<bool, Error> {
    let seconds = setting("SOAK_SECONDS", 3600)?;
    let honest = Honest::new(8).await?;
    println!("| requests a second | successes | p50 read, sign-in, write (ms) | p99 |");
    println!("| --- | --- | --- | --- |");
    let mut first = None;
    let mut rate = 20;
    loop {
        let taken = mix(&honest, rate, STEP).await;
        let (read, (successes, all)) = (tell(rate, &taken), taken.successes());
        let most = 5 * *first.get_or_insert(read.max(20));
        if read > most || successes * 100 < all * 99 || rate > 5_000 {
            break;
        }
        rate += rate / 2;
    }
    if seconds == 0 {
        return Ok(true);
    }
    let half = rate / 2;
    let stack = Stack::connect();
    // The first minute fills what is filled once.
    mix(&honest, half, 60.min(seconds)).await;
    let (before, rows) = (Usage::read()?, rows(&stack).await?);
    let taken = mix(&honest, half, seconds).await;
    let (successes, all) = taken.successes();
    tell(half, &taken);
    let after = Usage::read()?;
    println!("\n| function | memory at first, at last (MB a process) | handles |\n| --- | --- | --- |");
    for (name, (memory, handles)) in &after.0 {
        let (was, had) = before.0.get(name).copied().unwrap_or_default();
        println!("| {name} | {was:.1}, {memory:.1} | {had:.0}, {handles:.0} |");
    }
    println!("\n| table | rows at first | rows at last |\n| --- | --- | --- |");
    for (table, count) in self::rows(&stack).await? {
        println!("| {table} | {} | {count} |", rows.get(&table).copied().unwrap_or_default());
    }
    let grew = after.0.iter().filter(|(name, now)| before.0.get(*name).is_some_and(|was| is_more(*was, **now)));
    let grew: Vec<_> = grew.map(|(name, _)| name.as_str()).collect();
    println!("\ngrew by more than half: {}", if grew.is_empty() { "nothing".to_owned() } else { grew.join(", ") });
    Ok(grew.is_empty() && successes * 100 >= all * 99)
}

fn is_more(was: (f64, f64), now: (f64, f64)) -> bool {
    now.0 > was.0 * 1.5 + 1.0 || now.1 > was.1 * 1.5 + 2.0
}

/// Prints a step; returns the reads' p99.
fn tell(rate: u64, taken: &Taken) -> u128 {
    let (successes, all) = taken.successes();
    let times = |percent| KINDS.map(|kind| taken.percentile(kind, percent).to_string()).join(", ");
    println!("| {rate} | {successes} of {all} | {} | {} |", times(50), times(99));
    taken.percentile("read", 99)
}

async fn mix(honest: &Honest, rate: u64, seconds: u64) -> Taken {
    let (mut requests, mut number) = (JoinSet::new(), 0);
    open_loop(rate, seconds, || {
        number += 1;
        let honest = honest.clone();
        requests.spawn(async move {
            match number % 50 {
                0 => honest.write(number).await,
                // Two requests each.
                12 | 37 => honest.sign_in(number).await,
                _ => honest.read(number).await,
            }
        });
        // What has ended is forgotten.
        while requests.try_join_next().is_some() {}
    })
    .await;
    requests.join_all().await;
    honest.record.take()
}

/// Memory in MB and open handles of each function's processes, on average.
struct Usage(BTreeMap<String, (f64, f64)>);

impl Usage {
    fn read() -> Result<Self, Error> {
        let mut usage = BTreeMap::new();
        for (name, ids) in &Stack::connect().map.processes {
            let of = |id: &u32| {
                let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
                let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
                let memory: f64 = memory.trim().trim_end_matches(" kB").parse().ok()?;
                Some((memory / 1024.0, fs::read_dir(format!("/proc/{id}/fd")).ok()?.count() as f64))
            };
            let all: Vec<(f64, f64)> = ids.iter().filter_map(of).collect();
            if !all.is_empty() {
                let mean = |sum: f64| sum / all.len() as f64;
                let sums = all.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
                usage.insert(name.clone(), (mean(sums.0), mean(sums.1)));
            }
        }
        Ok(Self(usage))
    }
}

/// Number of rows by table.
async fn rows(stack: &Stack) -> Result<BTreeMap<String, i64>, Error> {
    // Writes that were answered are still settled and indexed.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let dynamodb = stack.dynamodb().await;
    let mut counts = BTreeMap::new();
    for table in ["ArtistTable", "ChainTable", "SecretTable"] {
        let (mut count, mut start) = (0, None);
        loop {
            let call = dynamodb.scan().table_name(table).select(aws_sdk_dynamodb::types::Select::Count);
            let page = call.set_exclusive_start_key(start).send().await?;
            count += i64::from(page.count);
            start = page.last_evaluated_key;
            if start.is_none() {
                break;
            }
        }
        counts.insert(table.to_owned(), count);
    }
    Ok(counts)
}
