//! Leaderboards of random histories, compared with a recount of all payments.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};

use alloy::primitives::{B256, U256};
use aws_sdk_dynamodb::types::AttributeValue;
use local::{cloud::Endpoints, database::LocalDatabase, paths::Paths, recorder::Recorder};
use proptest::prelude::*;
use rank_collectors::Ranker;
use serde::{Deserialize, Serialize};
use shared::{
    chain::{Chain, Chains},
    model::{
        Address, Amount, ArtistId, ChainId, DAY, EventId, Page, Payment, Period, Protocol, RankedBy, SortOrder,
        Spending, TokenId,
    },
    store::{
        artist::ArtistTable,
        chain::{ChainTable, Leaderboard, LeaderboardScope, Leaderboards, RankedCollector},
        engine::{BlockId, Direction, Journal, RankKey, RankedSet, RankedSets, UnitOfWork},
    },
};
use tests::{DatabaseProxy, history::Dice};

type TestResult<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const CHAIN: ChainId = ChainId::DEFAULT;
/// The Unix time of the first payment.
const START: u64 = 1_700_000_000;

/// Tables with a chain's payments.
struct Ledger {
    dynamodb: aws_sdk_dynamodb::Client,
    chain: Chain,
    work: UnitOfWork,
    journal: Journal,
    chain_table: ChainTable,
    artist_table: ArtistTable,
    payments: Vec<Payment>,
    owners: HashMap<Address, ArtistId>,
    /// Between the writer of payments and the database.
    proxy: DatabaseProxy,
}

impl Ledger {
    async fn open() -> TestResult<Self> {
        let (database, endpoints) = tables().await?;
        let aws = endpoints.sdk_config(&database.endpoint).await;
        let (chain_table, artist_table) = (ChainTable::new(&aws, "ChainTable"), ArtistTable::new(&aws, "ArtistTable"));
        let chains: Chains = format!(r#"[{{"id": {CHAIN}}}]"#).parse()?;
        let proxy = DatabaseProxy::start().await?;
        proxy.lead_to(&database.endpoint);
        let written = ChainTable::new(&endpoints.sdk_config(&proxy.url).await, "ChainTable");
        let (mut work, mut journal) = (UnitOfWork::new(written.clone()), Journal::new(written, CHAIN));
        journal.open(&mut work).await?;
        Ok(Self {
            dynamodb: aws_sdk_dynamodb::Client::new(&aws),
            chain: chains.get(CHAIN)?.clone(),
            work,
            journal,
            chain_table,
            artist_table,
            payments: Vec::new(),
            owners: HashMap::new(),
            proxy,
        })
    }

    /// Adds a payment in a block of its own.
    async fn pay(&mut self, payment: &Paid, is_final: bool) -> TestResult {
        let block = self.payments.len() as u64;
        let before = self.payments.last().map_or(START, |last| last.transferred_at);
        let payment = payment.row(&self.chain, block, before);
        self.work.add_payment(&payment).await?;
        let last = BlockId { number: block, hash: B256::ZERO };
        let final_block = if is_final { Some(block) } else { block.checked_sub(1) };
        self.journal.commit(&mut self.work, block, last, final_block).await?;
        self.payments.push(payment);
        Ok(())
    }

    /// Adds many payments in one block, all final. Fails if a write does.
    async fn pay_together(&mut self, payments: &[Payment], block: u64) -> TestResult {
        self.journal.open(&mut self.work).await?;
        for payment in payments {
            self.work.add_payment(payment).await?;
        }
        let last = BlockId { number: block, hash: B256::ZERO };
        Ok(self.journal.commit(&mut self.work, block, last, Some(block + 1_000)).await?)
    }

    /// Connects a wallet to an artist, with the outbox message for the ranker.
    async fn connect(&mut self, wallet: Address, artist: ArtistId) -> TestResult {
        self.put(&format!("WALLET#{wallet}"), "ARTIST", wallet, artist).await?;
        let id = uuid_of(&format!("{:032}", self.owners.len()));
        self.put("INBOX#RANKINGS", &id, wallet, artist).await?;
        self.owners.insert(wallet, artist);
        Ok(())
    }

    async fn put(&self, pk: &str, sk: &str, wallet: Address, artist: ArtistId) -> TestResult {
        let text = |value: &dyn ToString| AttributeValue::S(value.to_string());
        let call = self.dynamodb.put_item().table_name("ArtistTable");
        let call = call.item("pk", text(&pk)).item("sk", text(&sk)).item("artist_id", text(&artist));
        let call = call.item("address", text(&wallet)).item("wallet", text(&wallet));
        call.item("kind", text(&"wallet_connected")).send().await?;
        Ok(())
    }

    fn ranker(&self) -> Ranker {
        Ranker::new(vec![self.chain.clone()], self.chain_table.clone(), self.artist_table.clone())
    }

    /// Compares each leaderboard with a recount.
    async fn check(&self, now: u64, final_payments: usize) -> TestResult {
        let leaderboards = Leaderboards::new(self.chain_table.clone());
        let payments = &self.payments[..final_payments];
        let scopes = (0..3).map(|number| LeaderboardScope::CreatedBy(creator(number))).chain([LeaderboardScope::All]);
        for scope in scopes {
            for period in Period::EVERY {
                let spent = self.recount(payments, scope, period, now);
                for (by, order) in RankedBy::EVERY.into_iter().flat_map(|by| SortOrder::BOTH.map(|order| (by, order))) {
                    let mut expected: Vec<_> = spent.clone().into_iter().collect();
                    expected.sort_by_key(|(artist, spending)| (Reverse(spending.score(by)), *artist));
                    if order == SortOrder::Ascending {
                        expected.reverse();
                    }
                    let served = all_pages(&leaderboards, Leaderboard { scope, period, by }, order).await?;
                    let served: Vec<_> = served.iter().map(|one| (one.artist_id, one.spending)).collect();
                    assert_eq!(served, expected, "{scope} {period} {by} {order}");
                }
            }
        }
        Ok(())
    }

    fn recount(
        &self,
        payments: &[Payment],
        scope: LeaderboardScope,
        period: Period,
        now: u64,
    ) -> BTreeMap<ArtistId, Spending> {
        let mut spent: BTreeMap<ArtistId, Spending> = BTreeMap::new();
        for payment in payments {
            let is_in_scope =
                scope == LeaderboardScope::All || scope == LeaderboardScope::CreatedBy(payment.moment_creator);
            let is_in_period = period.seconds().is_none_or(|seconds| payment.transferred_at + seconds > now);
            if !is_in_scope || !is_in_period {
                continue;
            }
            let owner = self.owners.get(&payment.buyer).copied();
            let spent = spent.entry(owner.unwrap_or_else(|| ArtistId::of_wallet(payment.buyer))).or_default();
            spent.collected_count += 1;
            if payment.currency == Address::ZERO {
                spent.eth_spent.0 += payment.paid.0;
            } else if payment.currency == self.chain.addresses.usdc.into() {
                spent.usdc_spent.0 += payment.paid.0;
            }
        }
        spent
    }
}

/// A database with empty tables.
async fn tables() -> TestResult<(LocalDatabase, Endpoints)> {
    let database = LocalDatabase::start().await?;
    let endpoints = Endpoints { aws: String::new(), dynamodb: database.endpoint.clone() };
    for table in Paths::of_checkout().template()?.resources("AWS::DynamoDB::Table") {
        endpoints.create_table(table).await?;
    }
    Ok((database, endpoints))
}

/// A collect of a random history.
#[derive(Clone, Debug)]
struct Paid {
    wallet: u8,
    creator: u8,
    currency: u8,
    amount: u64,
    /// Seconds after the previous payment.
    after: u64,
}

impl Paid {
    fn row(&self, chain: &Chain, block: u64, before: u64) -> Payment {
        let transaction_hash = B256::from(U256::from(block));
        let amount = Amount(U256::from(self.amount));
        Payment {
            id: EventId::new(CHAIN, transaction_hash, 0),
            chain_id: CHAIN,
            collection: creator(self.creator),
            token_id: TokenId::from(U256::ONE),
            moment_id: EventId::new(CHAIN, transaction_hash, 1),
            protocol: Protocol::Native,
            uri: "ar://moment".to_owned(),
            creator: creator(self.creator),
            moment_creator: creator(self.creator),
            fee_recipients: Vec::new(),
            buyer: wallet(self.wallet),
            quantity: Amount(U256::ONE),
            amount,
            paid: amount,
            currency: match self.currency {
                0 => Address::ZERO,
                1 => chain.addresses.usdc.into(),
                _ => wallet(200),
            },
            referral: None,
            transaction_hash,
            block,
            log: 0,
            transferred_at: before + self.after,
        }
    }
}

fn paid() -> impl Strategy<Value = Paid> {
    let amount = prop_oneof![1..4_u64, any::<u64>()];
    (0..7_u8, 0..3_u8, 0..3_u8, amount, prop_oneof![0..60_u64, 0..9 * DAY])
        .prop_map(|(wallet, creator, currency, amount, after)| Paid { wallet, creator, currency, amount, after })
}

fn wallet(number: u8) -> Address {
    alloy::primitives::Address::repeat_byte(number + 1).into()
}

fn creator(number: u8) -> Address {
    alloy::primitives::Address::repeat_byte(number + 100).into()
}

fn artist(number: u8) -> TestResult<ArtistId> {
    Ok(uuid_of(&format!("{:032x}", u128::from(number) + 1)).parse()?)
}

fn uuid_of(digits: &str) -> String {
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

async fn all_pages(
    leaderboards: &Leaderboards,
    leaderboard: Leaderboard,
    order: SortOrder,
) -> TestResult<Vec<RankedCollector>> {
    let mut all = Vec::new();
    for number in 1.. {
        let page = Page { limit: "4".parse()?, number: number.to_string().parse()? };
        let served = leaderboards.page(leaderboard, order, page).await?;
        all.extend(served.rows);
        if page.end() >= served.total {
            assert_eq!(served.total, all.len() as u64);
            break;
        }
    }
    Ok(all)
}

async fn run(ranker: &mut Ranker, now: u64) -> TestResult {
    ranker.open().await?;
    ranker.move_wallets().await?;
    while ranker.step(now).await? > 0 {}
    Ok(())
}

fn block_on(test: impl Future<Output = TestResult>) -> TestResult {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(test)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3) })]
    #[test]
    fn leaderboards_equal_a_recount(
        stages in prop::collection::vec((prop::collection::vec(paid(), 0..70), 0..3_u64, 0..4_u8), 1..5),
    ) {
        block_on(async {
            let mut ledger = Ledger::open().await?;
            let (mut ranker, mut now) = (ledger.ranker(), START);
            for (stage, (history, days_later, owner)) in stages.iter().enumerate() {
                for payment in history {
                    ledger.pay(payment, true).await?;
                }
                let (wallet, artist) = (wallet(stage as u8 % 7), artist(*owner)?);
                ledger.connect(wallet, artist).await?;
                let newest = ledger.payments.last().map_or(START, |last| last.transferred_at);
                // The clock never goes back.
                now = newest.max(now) + days_later * 6 * DAY;
                run(&mut ranker, now).await?;
                ledger.check(now, ledger.payments.len()).await?;
                // A second run has nothing to do.
                let mut other = ledger.ranker();
                run(&mut other, now).await?;
                assert_eq!(other.usage().rows_written, 0);
            }
            Ok(())
        })
        .map_err(|error| TestCaseError::fail(error.to_string()))?;
    }
}

#[test]
fn payments_in_blocks_that_are_not_final_do_not_count() -> TestResult {
    block_on(async {
        let mut ledger = Ledger::open().await?;
        let payment = Paid { wallet: 0, creator: 0, currency: 0, amount: 5, after: 1 };
        ledger.pay(&payment, false).await?;
        let mut ranker = ledger.ranker();
        run(&mut ranker, START + 10).await?;
        ledger.check(START + 10, 0).await?;
        ledger.pay(&payment, false).await?;
        run(&mut ranker, START + 10).await?;
        ledger.check(START + 10, 1).await?;
        Ok(())
    })
}

#[test]
fn ranker_beside_a_half_written_batch_counts_every_payment_once() -> TestResult {
    block_on(async {
        let mut ledger = Ledger::open().await?;
        let mut ranker = ledger.ranker();
        for round in 0..6_u64 {
            let first = ledger.payments.len() as u64;
            let payment = |number: u64| {
                let paid = Paid { wallet: (number % 7) as u8, creator: 0, currency: 0, amount: number, after: 1 };
                // Different ids, in one block.
                Payment { block: round, ..paid.row(&ledger.chain, first + number, START + round) }
            };
            let payments: Vec<_> = (0..120).map(payment).collect();
            // One of the writes in the middle of the rows fails.
            ledger.proxy.before_failure.store(6 + round as i64, std::sync::atomic::Ordering::Relaxed);
            assert!(ledger.pay_together(&payments, round).await.is_err(), "round {round}");
            ledger.proxy.before_failure.store(i64::MAX, std::sync::atomic::Ordering::Relaxed);
            run(&mut ranker, START + 1_000).await?;
            ledger.check(START + 1_000, ledger.payments.len()).await?;
            ledger.pay_together(&payments, round).await?;
            ledger.payments.extend(payments);
            run(&mut ranker, START + 1_000).await?;
            ledger.check(START + 1_000, ledger.payments.len()).await?;
        }
        Ok(())
    })
}

#[test]
fn rows_written_per_payment_do_not_grow_with_history() -> TestResult {
    block_on(async {
        let mut ledger = Ledger::open().await?;
        let mut ranker = ledger.ranker();
        let mut costs = Vec::new();
        for round in 0..3 {
            for number in 0..100_u64 {
                let amount = number * number + round;
                let wallet = (number + round) as u8;
                ledger.pay(&Paid { wallet, creator: 0, currency: 0, amount, after: 1 }, true).await?;
            }
            run(&mut ranker, START + 1_000).await?;
            let before = ranker.usage().rows_written;
            ledger.pay(&Paid { wallet: 50, creator: 0, currency: 0, amount: 1, after: 1 }, true).await?;
            run(&mut ranker, START + 1_000).await?;
            costs.push(ranker.usage().rows_written - before);
        }
        // Two scopes of four periods, each with three sets, in each of which a member moves and the tree's root changes;
        // the spending of a wallet and of a collector in each scope; the cursor; the progress before and after.
        assert!(costs.iter().all(|rows| *rows <= 2 * 4 * 3 * 3 + 2 * 2 + 1 + 2 + 2), "{costs:?}");
        Ok(())
    })
}

/// A member of a set.
#[derive(Serialize, Deserialize)]
struct Numbered {
    number: u64,
}

#[test]
fn pages_of_a_large_set_equal_those_of_a_sorted_list() -> TestResult {
    const MEMBERS: u128 = 18_000;
    block_on(async {
        let (database, endpoints) = tables().await?;
        let recorder = Recorder::in_front_of(&database.endpoint).await?;
        let sets = RankedSets::new(ChainTable::new(&endpoints.sdk_config(&recorder.url).await, "ChainTable"));
        let mut dice = Dice::at(7);
        for set in [RankedSet::growing("GROWING"), RankedSet::moving("MOVING")] {
            assert_eq!(sets.count(&set).await?, 0);
            let mut loader = set.loader();
            // Every three members have the same score.
            let key = |number: u128| RankKey { score: number / 3, id: number };
            let rows = (0..MEMBERS).map(|number| loader.member(key(number), &Numbered { number: number as u64 }));
            let rows: Vec<_> = rows.collect::<Result<_, _>>()?;
            database.load("ChainTable", rows)?;
            database.load("ChainTable", loader.finish()?)?;
            // What is remembered is that there was no member.
            let middle = sets.page::<Numbered>(&set, Direction::Ascending, MEMBERS as u64 / 2, 1).await?;
            assert!(middle.rows.iter().map(|row| row.number).eq([MEMBERS as u64 / 2]), "{set:?}");
            for _ in 0..80 {
                let (offset, limit) = (dice.roll(MEMBERS as u64), [1, 20, 100, 300][dice.roll(4) as usize]);
                let since = [0, u128::from(dice.roll(MEMBERS as u64))][dice.roll(2) as usize];
                let numbers = |rows: Vec<Numbered>| rows.into_iter().map(|row| row.number);
                recorder.take_calls();
                let ascending = sets.page(&set, Direction::Ascending, offset, limit).await?;
                let expected = (0..MEMBERS as u64).skip(offset as usize).take(limit as usize);
                assert!(numbers(ascending.rows).eq(expected), "{set:?} {offset} {limit}");
                // The root and its node together, and the members.
                assert_eq!(recorder.take_calls().len(), 2, "{set:?} {offset} {limit}");
                let newest = sets.greatest(&set, key(since), offset, limit).await?;
                let expected = (since as u64..MEMBERS as u64).rev().skip(offset as usize).take(limit as usize);
                assert!(numbers(newest.rows).eq(expected), "{set:?} {offset} {limit} since {since}");
                assert_eq!(newest.total, (MEMBERS - since) as u64);
            }
        }
        Ok(())
    })
}

#[test]
fn test_network_is_ranked_apart_from_chains_whose_money_has_a_value() -> TestResult {
    block_on(async {
        let mut ledger = Ledger::open().await?;
        let paid = Paid { wallet: 0, creator: 0, currency: 0, amount: 5, after: 1 };
        ledger.pay(&paid, true).await?;
        let chains: Chains = format!(r#"[{{"id": {CHAIN}}}, {{"id": 84532}}]"#).parse()?;
        let test_network = chains.get(ChainId(84_532))?.clone();
        let mut work = UnitOfWork::new(ledger.chain_table.clone());
        let mut journal = Journal::new(ledger.chain_table.clone(), test_network.id);
        journal.open(&mut work).await?;
        let free_money = Paid { wallet: 1, amount: 1_000, ..paid };
        let payment = Payment {
            id: EventId::new(test_network.id, B256::ZERO, 0),
            chain_id: test_network.id,
            ..free_money.row(&test_network, 0, START)
        };
        work.add_payment(&payment).await?;
        journal.commit(&mut work, 0, BlockId { number: 0, hash: B256::ZERO }, Some(0)).await?;

        let (chain_table, artist_table) = (ledger.chain_table.clone(), ledger.artist_table.clone());
        let both = chains.iter().cloned().collect();
        run(&mut Ranker::new(both, chain_table.clone(), artist_table), START + 10).await?;
        let leaderboards = Leaderboards::new(chain_table);
        for (scope, expected) in [
            (LeaderboardScope::All, 0),
            (LeaderboardScope::CreatedBy(creator(0)), 0),
            (LeaderboardScope::On(CHAIN), 0),
            (LeaderboardScope::On(test_network.id), 1),
        ] {
            let ranking = Leaderboard { scope, period: Period::All, by: RankedBy::EthSpent };
            let listed = all_pages(&leaderboards, ranking, SortOrder::Descending).await?;
            let listed: Vec<_> = listed.iter().map(|one| one.wallet).collect();
            assert_eq!(listed, [wallet(expected)], "{scope}");
        }
        Ok(())
    })
}
