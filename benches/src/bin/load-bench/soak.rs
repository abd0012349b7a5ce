use std::{collections::BTreeMap, fs, os::unix::process::parent_id, time::Duration};

use local::Error;
use tests::Stack;
use tokio::task::JoinSet;

use super::{
    endpoints::Endpoints,
    honest::{Honest, KINDS},
    open_loop,
    record::Taken,
    setting,
};

/// Seconds of a step on the way up.
const STEP: u64 = 15;

/// Raises a mix as of a real day (90 % reads, 8 % sign-ins and profiles, 2 % writes) by halves until it breaks: less than
/// 99 % succeed, or reads take five times as long as at first. Then holds half of that, and tells what grew.
pub async fn measure() -> Result<bool, Error> {
    let seconds = setting("SOAK_SECONDS", 3600)?;
    let honest = Honest::new(16, false).await?;
    let mut endpoints = Endpoints::of(&honest);
    endpoints.alone().await?;
    println!("| requests a second | successes | p50 {} (ms) | p99 |", KINDS.join(", "));
    println!("| --- | --- | --- | --- |");
    let half = highest(&honest).await / 2;
    if seconds == 0 {
        return Ok(true);
    }
    // The first minute fills what is filled once.
    mix(&honest, half, 60.min(seconds)).await;
    let (before, rows) = (Usage::read()?, rows(&honest.stack).await?);
    let taken = tokio::select! {
        taken = mix(&honest, half, seconds) => taken,
        failed = endpoints.go_round() => return failed.map(|()| false),
    };
    tell(half, &taken);
    endpoints.tell();
    let has_grown = before.tell(&Usage::read()?);
    println!("\n| rows that changed in number | at first | at last |\n| --- | --- | --- |");
    for (kind, count) in self::rows(&honest.stack).await? {
        let before = rows.get(&kind).copied().unwrap_or_default();
        if count != before {
            println!("| {kind} | {before} | {count} |");
        }
    }
    let (successes, all) = taken.successes();
    Ok(!has_grown && successes * 100 >= all * 99)
}

/// The rate at which it breaks, or `HIGHEST_RATE`.
async fn highest(honest: &Honest) -> u64 {
    let most_rate = setting("HIGHEST_RATE", 5_000).unwrap_or(5_000);
    let (mut first, mut rate) = (None, 20);
    loop {
        let taken = mix(honest, rate, STEP).await;
        let (read, (successes, all)) = (tell(rate, &taken), taken.successes());
        let most = 5 * *first.get_or_insert(read.max(20));
        if read > most || successes * 100 < all * 99 || rate >= most_rate {
            return rate;
        }
        rate = (rate + rate / 2).min(most_rate);
    }
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
    // A sign-in is four requests.
    let (mut requests, mut number, starts) = (JoinSet::new(), 0, (rate * 50).div_ceil(53));
    open_loop(starts, seconds, || {
        number += 1;
        let honest = honest.clone();
        requests.spawn(async move {
            match number % 50 {
                0 => honest.write().await,
                25 => honest.sign_in().await,
                _ => honest.read().await,
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
        let mut processes = Stack::connect().map.processes;
        processes.insert("(gateway, Lambda and database)".to_owned(), vec![parent_id()]);
        for (name, ids) in &processes {
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

    /// Prints both. Whether a function has grown by more than half.
    fn tell(&self, now: &Self) -> bool {
        println!("\n| function | memory at first, at last (MB a process) | handles |\n| --- | --- | --- |");
        let mut grown = Vec::new();
        for (name, (memory, handles)) in &now.0 {
            let Some((was, had)) = self.0.get(name).copied() else {
                println!("| {name} | -, {memory:.1} | -, {handles:.0} |");
                continue;
            };
            println!("| {name} | {was:.1}, {memory:.1} | {had:.0}, {handles:.0} |");
            // The database is in memory: its rows are counted below.
            if !name.starts_with('(') && is_more((was, had), (*memory, *handles)) {
                grown.push(name.as_str());
            }
        }
        println!(
            "\ngrew by more than half: {}",
            if grown.is_empty() { "nothing".to_owned() } else { grown.join(", ") }
        );
        !grown.is_empty()
    }
}

/// Number of rows by table and kind, the first word of their partition.
async fn rows(stack: &Stack) -> Result<BTreeMap<String, usize>, Error> {
    // Writes that were answered are still settled and indexed.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let dynamodb = stack.dynamodb().await;
    let mut counts = BTreeMap::new();
    for table in ["ArtistTable", "ChainTable", "SecretTable"] {
        let scan = dynamodb.scan().table_name(table).projection_expression("pk").into_paginator().items().send();
        for row in scan.collect::<Result<Vec<_>, _>>().await? {
            let kind = row["pk"].as_s().ok().and_then(|pk| pk.split('#').next()).unwrap_or_default();
            *counts.entry(format!("{table} {kind}")).or_default() += 1;
        }
    }
    Ok(counts)
}
