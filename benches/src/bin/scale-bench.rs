//! Measures the cost of rankings, timelines and search with a million collectors, moments and names. Given `timelines`, only
//! of timelines.
//!
//! Ranking runs in a second process, so that its memory can be measured.

use std::{collections::BTreeSet, env, fs, time::Instant};

use alloy::primitives::{B256, U256};
use local::{
    Error,
    cloud::Endpoints,
    database::LocalDatabase,
    paths::Paths,
    recorder::{Call, Recorder},
};
use rank_collectors::Ranker;
use shared::{
    chain::Chains,
    model::{
        Address, Amount, ArtistId, ChainId, EventId, FoldedName, MomentRef, Page, Payment, Period, Protocol, RankedBy,
        SortOrder, Spending,
    },
    store::{
        artist::{ArtistTable, ListedArtist, Search},
        chain::{
            ChainTable, Leaderboard, LeaderboardScope, Leaderboards, Listing, RankedCollector, Scope, TimelineFilter,
            Timelines,
        },
        engine::{BlockId, Journal, UnitOfWork},
    },
};

const ARTISTS: u64 = 1_000_000;
const MOMENTS: u64 = 1_000_000;
/// Moments of a page, and how often it is read.
const PAGE: u64 = 20;
const READS: usize = 21;
const PAYMENTS: u64 = 500;
/// Payments that are ranked one by one.
const SINGLE: u64 = 20;
/// Time of every payment, in Unix seconds.
const NOW: u64 = 1_800_000_000;
/// Environment variable of the second process: the tables' endpoint.
const RECOUNT_AT: &str = "RECOUNT_AT";

#[tokio::main]
async fn main() -> Result<(), Error> {
    if let Ok(endpoint) = env::var(RECOUNT_AT) {
        return recount(&endpoint).await;
    }
    timelines().await?;
    if env::args().nth(1).as_deref() == Some("timelines") {
        return Ok(());
    }
    println!("{ARTISTS} names");
    search().await?;
    for by in RankedBy::EVERY {
        println!("{ARTISTS} collectors by {by}");
        page(Leaderboard { scope: LeaderboardScope::All, period: Period::All, by }).await?;
    }
    for collectors in [ARTISTS / 1_000, ARTISTS] {
        println!("payments among {collectors} collectors, of all creators and of one");
        count_new(collectors).await?;
    }
    Ok(())
}

/// Reads the first, a middle and the last page of all moments.
async fn timelines() -> Result<(), Error> {
    for moments in [MOMENTS / 1_000, MOMENTS] {
        println!("a timeline of {moments} moments");
        let (database, recorder) = tables().await?;
        let set = Timelines::everyone(ChainId::DEFAULT);
        let mut loader = set.loader();
        let rows = (0..moments).filter_map(|number| {
            let place = MomentRef {
                chain: ChainId::DEFAULT,
                collection: wallet(number % 1_000),
                token: U256::from(number).into(),
            };
            listing(number).load(&place, &mut loader).ok()
        });
        database.load("ChainTable", rows)?;
        database.load("ChainTable", loader.finish()?)?;
        let table = chain_table(&recorder.url).await.eventually_consistent();
        for (page, offset) in [("first", 0), ("middle", moments / 2), ("last", moments - PAGE)] {
            let timelines = Timelines::new(table.clone());
            let mut times = Vec::new();
            recorder.take_calls();
            for read in 0..READS {
                match read {
                    0 => {}
                    1 => print_calls(&format!("{page} page at first"), &recorder),
                    _ => drop(recorder.take_calls()),
                }
                let start = Instant::now();
                let filter = TimelineFilter::default();
                let found = timelines.newest(ChainId::DEFAULT, Scope::Everyone, filter, 0, offset, PAGE as u32).await?;
                times.push(start.elapsed());
                if (found.total, found.moments.len() as u64) != (moments, PAGE) {
                    return Err(format!("{} of {} moments", found.moments.len(), found.total).into());
                }
            }
            times.sort();
            print_calls(
                &format!("{page} page later, in {:.1} ms", times[READS / 2].as_secs_f64() * 1_000.0),
                &recorder,
            );
        }
    }
    Ok(())
}

fn listing(number: u64) -> Listing {
    Listing {
        id: EventId::new(ChainId::DEFAULT, B256::from(U256::from(number)), 0),
        creator: wallet(number % 1_000),
        protocol: Protocol::Native,
        created_at: NOW + number * 2,
        uri: format!("ar://{number}"),
        content_type: None,
        curated: false,
        hidden: false,
        unlisted: false,
        others: BTreeSet::new(),
    }
}

/// Searches by prefix among all names.
async fn search() -> Result<(), Error> {
    let (database, recorder) = tables().await?;
    let search = Search::new(artist_table(&recorder.url).await);
    let rows = (0..ARTISTS).filter_map(|number| {
        let artist = ListedArtist { address: wallet(number), username: format!("Artist.{number:07}") };
        search.relist(None, Some(&artist)).ok()?.pop()?.put.map(|put| put.item)
    });
    database.load("ArtistTable", rows)?;
    for beginning in ["a", "ARTIST.05", "artist.0999999"] {
        let found = search.by_beginning(&FoldedName::of(beginning), 50).await?;
        print_calls(&format!("{beginning}: {} found", found.len()), &recorder);
    }
    Ok(())
}

/// Reads pages of a ranking of all collectors.
async fn page(ranking: Leaderboard) -> Result<(), Error> {
    let (database, recorder) = tables().await?;
    let set = ranking.set();
    let mut loader = set.loader();
    let rows = (0..ARTISTS)
        .map(collector)
        .filter_map(|collector| loader.member(ranking.place(collector.artist_id, collector.spending), &collector).ok());
    database.load("ChainTable", rows)?;
    database.load("ChainTable", loader.finish()?)?;
    let table = chain_table(&recorder.url).await.eventually_consistent();
    for order in SortOrder::BOTH {
        for number in ["1", "2", "25000", "50000"] {
            let rankings = Leaderboards::new(table.clone());
            let page = Page { limit: "20".parse()?, number: number.parse()? };
            for time in ["at first", "later"] {
                let shown = rankings.page(ranking, order, page).await?;
                let found = format!("{} of {}", shown.rows.len(), shown.total);
                print_calls(&format!("{order}, page {number} {time}: {found}"), &recorder);
            }
        }
    }
    Ok(())
}

/// Ranks payments among `collectors` existing collectors: one by one, and many at once.
async fn count_new(collectors: u64) -> Result<(), Error> {
    let (database, recorder) = tables().await?;
    for scope in [LeaderboardScope::All, LeaderboardScope::CreatedBy(wallet(1))] {
        for by in RankedBy::EVERY {
            for period in Period::EVERY {
                let ranking = Leaderboard { scope, period, by };
                let set = ranking.set();
                let mut loader = set.loader();
                // Ranking reads only the members whose places change, so the trees are enough.
                for collector in (0..collectors).map(collector) {
                    loader.member(ranking.place(collector.artist_id, collector.spending), &())?;
                }
                database.load("ChainTable", loader.finish()?)?;
            }
        }
    }
    let chain_table = chain_table(&database.endpoint).await;
    let mut chain = Payer {
        unit: UnitOfWork::new(chain_table.clone()),
        journal: Journal::new(chain_table, ChainId::DEFAULT),
        block: 0,
    };
    chain.journal.open(&mut chain.unit).await?;
    let mut ranker = ranker(&recorder.url).await?;
    ranker.open().await?;
    for what in ["new collectors", "collectors who paid before", "collectors who paid twice before"] {
        recorder.take_calls();
        let (mut written, mut read) = (0.0, 0.0);
        for number in 0..SINGLE {
            chain.pay([collectors + number]).await?;
            while ranker.step(NOW).await? > 0 {}
            for call in recorder.take_calls() {
                *(if call.operation.contains("Write") { &mut written } else { &mut read }) += call.capacity;
            }
        }
        let each = |units: f64| units / SINGLE as f64;
        println!("  {what}, one by one: {} write units, {} read units a payment", each(written), each(read));
    }
    chain.pay(collectors + SINGLE..collectors + SINGLE + PAYMENTS).await?;
    recorder.take_calls();
    let started = Instant::now();
    let mut process = tokio::process::Command::new(env::current_exe()?);
    let status = process.env(RECOUNT_AT, &recorder.url).status().await?;
    print_calls(&format!("{PAYMENTS} at once, {status} after {:.1} s", started.elapsed().as_secs_f32()), &recorder);
    let mut old = ranker_units(&mut ranker, &recorder, NOW + 2 * 24 * 60 * 60).await?;
    old /= (PAYMENTS + 3 * SINGLE) as f64;
    println!("  leaving the period of a day: {old} write units a payment");
    Ok(())
}

/// Write units of everything that is to be ranked at `now`.
async fn ranker_units(ranker: &mut Ranker, recorder: &Recorder, now: u64) -> Result<f64, Error> {
    ranker.open().await?;
    while ranker.step(now).await? > 0 {}
    let writes = recorder.take_calls().into_iter().filter(|call| call.operation.contains("Write"));
    Ok(writes.map(|call| call.capacity).sum())
}

/// Appends payments as the indexer does.
struct Payer {
    unit: UnitOfWork,
    journal: Journal,
    block: u64,
}

impl Payer {
    /// Adds payments of these collectors, in one final block.
    async fn pay(&mut self, collectors: impl IntoIterator<Item = u64>) -> Result<(), Error> {
        for number in collectors {
            self.unit.add_payment(&payment(number, self.block)).await?;
        }
        let block = BlockId { number: self.block, hash: B256::ZERO };
        self.journal.commit(&mut self.unit, self.block, block, Some(self.block)).await?;
        self.block += 1;
        Ok(())
    }
}

async fn ranker(endpoint: &str) -> Result<Ranker, Error> {
    let chains: Chains = format!(r#"[{{"id": {}}}]"#, ChainId::DEFAULT).parse()?;
    let chains = chains.iter().cloned().collect();
    Ok(Ranker::new(chains, chain_table(endpoint).await, artist_table(endpoint).await))
}

/// Runs the ranker, and prints its calls and peak memory.
async fn recount(endpoint: &str) -> Result<(), Error> {
    let mut ranker = ranker(endpoint).await?;
    ranker.open().await?;
    while ranker.step(NOW).await? > 0 {}
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("no VmHWM here");
    println!("  {:?}, {}", ranker.usage(), peak.split_whitespace().collect::<Vec<_>>().join(" "));
    Ok(())
}

async fn tables() -> Result<(LocalDatabase, Recorder), Error> {
    let database = LocalDatabase::start().await?;
    let endpoints = Endpoints { aws: String::new(), dynamodb: database.endpoint.clone() };
    let template = Paths::of_checkout().template()?;
    for table in template.resources("AWS::DynamoDB::Table") {
        endpoints.create_table(table).await?;
    }
    let recorder = Recorder::in_front_of(&database.endpoint).await?;
    Ok((database, recorder))
}

async fn chain_table(endpoint: &str) -> ChainTable {
    ChainTable::new(&endpoints(endpoint).sdk_config(endpoint).await, "ChainTable")
}

async fn artist_table(endpoint: &str) -> ArtistTable {
    ArtistTable::new(&endpoints(endpoint).sdk_config(endpoint).await, "ArtistTable")
}

fn endpoints(dynamodb: &str) -> Endpoints {
    Endpoints { aws: String::new(), dynamodb: dynamodb.to_owned() }
}

fn print_calls(what: &str, recorder: &Recorder) {
    let calls = recorder.take_calls();
    let (writes, reads): (Vec<_>, Vec<_>) = calls.iter().partition(|call| call.operation.contains("Write"));
    let units = |calls: &[&Call]| calls.iter().map(|call| call.capacity).sum::<f64>() + 0.0;
    let (read, written) = (units(&reads), units(&writes));
    println!("  {what}; {} calls, {read} read units, {written} write units", calls.len());
}

fn wallet(number: u64) -> Address {
    alloy::primitives::Address::left_padding_from(&number.to_be_bytes()).into()
}

fn collector(number: u64) -> RankedCollector {
    let wallet = wallet(number);
    let milli = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let spending = Spending {
        collected_count: 1 + milli % 30,
        eth_spent: Amount(U256::from(milli) * U256::from(1_000_000_000_000_000_u64)),
        usdc_spent: Amount(U256::from(milli % 9_973)),
    };
    RankedCollector { artist_id: ArtistId::of_wallet(wallet), wallet, spending }
}

fn payment(number: u64, block: u64) -> Payment {
    let spent = collector(number);
    let (creator, transaction_hash) = (wallet(1), B256::from(U256::from(number) + (U256::from(block) << 64)));
    Payment {
        id: EventId::new(ChainId::DEFAULT, transaction_hash, 0),
        chain_id: ChainId::DEFAULT,
        collection: creator,
        token_id: U256::ONE.into(),
        moment_id: EventId::new(ChainId::DEFAULT, transaction_hash, 1),
        protocol: Protocol::Native,
        uri: "ar://moment".to_owned(),
        creator,
        moment_creator: creator,
        fee_recipients: Vec::new(),
        buyer: spent.wallet,
        quantity: Amount(U256::ONE),
        amount: spent.spending.eth_spent,
        paid: spent.spending.eth_spent,
        currency: Address::ZERO,
        referral: None,
        transaction_hash,
        block,
        log: 0,
        transferred_at: NOW,
    }
}
