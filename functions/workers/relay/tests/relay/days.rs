//! Counters of days after random histories around midnights, UTC, by writers whose clocks differ.

use std::{collections::BTreeSet, time::Duration};

use local::{cloud::Endpoints, database::LocalDatabase, paths::Paths};
use proptest::{collection::vec, prelude::*};
use shared::{
    model::{Address, ArtistId, ChainId, DAY, DailyLimit, DailySpend, KeyId, TransactionId, TransactionStatus},
    store::artist::{
        Admission, Admitted, ArtistTable, Ending, NewTransaction, Outlay, Pool, PoolLimit, Spent, Transactions,
    },
};

use crate::support::{Error, calls, pools_wei, unsent_failure};

const CHAIN: ChainId = ChainId::DEFAULT;

/// The first day: rows that expire after one are there yet.
const FIRST: u64 = 30_000;

/// Wei of gas that the artist may use on a day.
const LIMIT: u64 = 1_000;

/// What each spender may pay on a day.
const SPEND: DailySpend = DailySpend { eth: DailyLimit(1_000), usdc: DailyLimit(2_000) };

#[derive(Clone, Debug)]
enum Act {
    /// A request asks for writes that reserve and pay so many wei, and twice as many millionths of a USDC. A late one
    /// knows nothing of the account.
    Queue { writes: Vec<(u64, u128)>, spender: usize, is_late: bool },
    /// A block has a transaction, or another block has it after a reorganisation, for so many wei.
    Mine { which: usize, wei: u64 },
    /// A transaction fails before it is sent.
    Fail { which: usize },
    /// The artist takes a transaction back.
    Cancel { which: usize },
}

fn act() -> impl Strategy<Value = Act> {
    let writes = vec((0..400_u64, 0..300_u128), 1..4);
    prop_oneof![
        4 => (writes, 0..2_usize, any::<bool>())
            .prop_map(|(writes, spender, is_late)| Act::Queue { writes, spender, is_late }),
        3 => (any::<usize>(), 0..800_u64).prop_map(|(which, wei)| Act::Mine { which, wei }),
        1 => any::<usize>().prop_map(|which| Act::Fail { which }),
        1 => any::<usize>().prop_map(|which| Act::Cancel { which }),
    ]
}

/// A transaction as the recount has it.
struct Known {
    id: TransactionId,
    status: TransactionStatus,
    charged_day: u64,
    charged: u64,
    spender: usize,
    paid_day: u64,
    paid: u128,
}

/// An artist's transactions, and the table that has them.
struct Ledger {
    dynamodb: aws_sdk_dynamodb::Client,
    store: Transactions,
    artist: ArtistId,
    /// A key, and old tokens.
    spenders: [Option<KeyId>; 2],
    known: Vec<Known>,
    /// The day that was charged last.
    day: u64,
}

impl Ledger {
    async fn open() -> Result<Self, Error> {
        let database = LocalDatabase::start().await?;
        let endpoints = Endpoints { aws: String::new(), dynamodb: database.endpoint.clone() };
        for table in Paths::of_checkout().template()?.resources("AWS::DynamoDB::Table") {
            endpoints.create_table(table).await?;
        }
        let aws = endpoints.sdk_config(&database.endpoint).await;
        Ok(Self {
            dynamodb: aws_sdk_dynamodb::Client::new(&aws),
            store: Transactions::new(ArtistTable::new(&aws, "ArtistTable")),
            artist: ArtistId::random(),
            spenders: [Some(KeyId::next()), None],
            known: Vec::new(),
            day: 0,
        })
    }

    fn charged_on(&self, day: u64) -> u64 {
        self.known.iter().filter(|known| known.charged_day == day).map(|known| known.charged).sum()
    }

    fn paid_on(&self, spender: usize, day: u64) -> u128 {
        let paid = self.known.iter().filter(|known| (known.spender, known.paid_day) == (spender, day));
        paid.map(|known| known.paid).sum()
    }

    async fn act(&mut self, act: &Act, now: u64) -> Result<(), Error> {
        match act {
            Act::Queue { writes, spender, is_late } => self.queue(writes, *spender, *is_late, now).await,
            Act::Mine { which, wei } => {
                let ending = Ending { status: TransactionStatus::Mined, wei: *wei, ..unsent_failure() };
                self.end(*which, Some(&ending), now).await
            }
            Act::Fail { which } => self.end(*which, Some(&unsent_failure()), now).await,
            Act::Cancel { which } => self.end(*which, None, now).await,
        }
    }

    async fn queue(&mut self, writes: &[(u64, u128)], spender: usize, is_late: bool, now: u64) -> Result<(), Error> {
        let account = if is_late { None } else { self.store.account(self.artist, CHAIN).await? };
        let key = self.spenders[spender];
        let each = writes.iter().map(|(_, paid)| Spent { eth: *paid, usdc: 2 * paid }).collect();
        let new = |(reserve, _): &(u64, u128)| NewTransaction { reserve: *reserve, ..calls(Vec::new(), 1) };
        let admission = Admission {
            artist: self.artist,
            key,
            outlay: Some(Outlay { key, limit: SPEND, each }),
            chain: CHAIN,
            wallet: Address::ZERO,
            account,
            transactions: writes.iter().map(new).collect(),
            replay: None,
            claim: None,
            activity: None,
            artist_limit: LIMIT,
            pool: PoolLimit { pool: Pool::Established, wei: u64::MAX, assured: 0 },
        };
        let admitted = self.store.admit(&admission, Duration::from_secs(now)).await?;
        let (charged_day, paid_day) = (self.day.max(now / DAY), now / DAY);
        let (wei, _) = admission.demand();
        let paid: u128 = writes.iter().map(|(_, paid)| paid).sum();
        let fits = self.charged_on(charged_day) + wei <= LIMIT && self.paid_on(spender, paid_day) + paid <= SPEND.eth.0;
        match admitted {
            Admitted::Queued(rows) if fits => {
                self.day = charged_day;
                self.known.extend(rows.iter().zip(writes).map(|(row, (charged, paid))| Known {
                    id: row.id,
                    status: TransactionStatus::Queued,
                    charged_day,
                    charged: *charged,
                    spender,
                    paid_day,
                    paid: *paid,
                }));
                Ok(())
            }
            Admitted::Refused(_) if !fits => Ok(()),
            other => Err(format!("{wei} and {paid} wei on day {charged_day}: {other:?}").into()),
        }
    }

    /// Ends one of the transactions, or lets the artist take it back.
    async fn end(&mut self, which: usize, ending: Option<&Ending>, now: u64) -> Result<(), Error> {
        let count = self.known.len().max(1);
        let Some(known) = self.known.get_mut(which % count) else { return Ok(()) };
        let row = self.store.get(self.artist, known.id).await?.ok_or("no such transaction")?;
        let (status, wei) = ending.map_or((TransactionStatus::Cancelled, 0), |ending| (ending.status, ending.wei));
        let is_ended = match ending {
            Some(ending) => self.store.end(&row, ending, now).await?,
            None => self.store.cancel(&row, now).await?,
        };
        assert_eq!(is_ended, known.status.may_become(status), "{:?} becomes {status:?}", known.status);
        if is_ended {
            (known.status, known.charged) = (status, wei);
            if status != TransactionStatus::Mined && known.paid_day == now / DAY {
                known.paid = 0;
            }
        }
        Ok(())
    }

    async fn check_account(&self) -> Result<(), Error> {
        let account = self.store.account(self.artist, CHAIN).await?.unwrap_or_default();
        let waiting = self.known.iter().filter(|known| known.status == TransactionStatus::Queued).count();
        let counted = (account.day, account.spent, account.waiting as usize);
        assert_eq!(counted, (self.day, self.charged_on(self.day), waiting));
        Ok(())
    }

    async fn check_days(&self) -> Result<(), Error> {
        let days: BTreeSet<_> = self.known.iter().flat_map(|known| [known.charged_day, known.paid_day]).collect();
        for day in days {
            assert_eq!(pools_wei(&self.dynamodb, CHAIN, day).await?, self.charged_on(day), "pools of day {day}");
            for (spender, key) in self.spenders.into_iter().enumerate() {
                let paid = self.paid_on(spender, day);
                let spent = self.store.spent(self.artist, key, day * DAY).await?;
                assert_eq!(spent, Spent { eth: paid, usdc: 2 * paid }, "spender {spender} on day {day}");
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(8) })]
    /// Each step is by a clock within two seconds of a midnight, the same one as before or a later one.
    #[test]
    fn counters_of_days_equal_a_recount_of_all_transactions(
        steps in vec((prop_oneof![6 => Just(0_u64), 2 => Just(1), 1 => 2..40_u64], 0..4_u64, act()), 1..30),
    ) {
        let test = async {
            let (mut ledger, mut day) = (Ledger::open().await?, FIRST);
            for (days, second, act) in &steps {
                day += days;
                ledger.act(act, day * DAY - 2 + second).await?;
                ledger.check_account().await?;
            }
            ledger.check_days().await
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(test).map_err(|error: Error| TestCaseError::fail(error.to_string()))?;
    }
}
