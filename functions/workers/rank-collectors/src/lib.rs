//! Ranks collectors by their payments. A payment enters each period that reaches back to it and leaves the period later,
//! so the cost of a run follows from what changed, not from all payments.

use std::collections::{BTreeMap, BTreeSet};

use shared::{
    chain::{Chain, with_value},
    model::{Address, ArtistChange, ArtistId, ChainId, Payment, Period, Spending},
    store::{
        StoreError,
        artist::{ArtistTable, Artists, Outbox},
        chain::{ChainTable, LeaderboardScope, Leaderboards, PaymentCursor, SpendingChange},
        engine::{CommitError, Journal, UnitOfWork, Usage},
    },
};

/// Payments counted or removed in one step: the rows they touch must fit into the function's memory.
const STEP: u16 = 50;

/// Why a run stopped.
#[derive(Debug, thiserror::Error)]
pub enum RankError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("collectors not counted")]
    Commit(#[from] CommitError),
}

/// Ranks the collectors of all chains.
pub struct Ranker {
    chains: Vec<Chain>,
    /// Those whose payments count in the ranking of all.
    valued: Vec<ChainId>,
    chain_table: ChainTable,
    leaderboards: Leaderboards,
    artists: Artists,
    outbox: Outbox,
    work: UnitOfWork,
    journal: Journal,
}

/// The changes of one step.
#[derive(Default)]
struct Step {
    payments: u16,
    changes: BTreeMap<(LeaderboardScope, Address), Change>,
}

/// Spending that enters and leaves the periods of one wallet.
#[derive(Default)]
struct Change {
    entered: BTreeMap<Period, Spending>,
    left: BTreeMap<Period, Spending>,
}

impl Ranker {
    /// A ranker of these chains; in the ranking of all, test networks among them count only where there are no others.
    pub fn new(chains: Vec<Chain>, chain_table: ChainTable, artist_table: ArtistTable) -> Self {
        Self {
            valued: with_value(&chains),
            chains,
            leaderboards: Leaderboards::new(chain_table.clone()),
            artists: Artists::new(artist_table.clone()),
            outbox: Outbox::of_rankings(artist_table),
            work: UnitOfWork::new(chain_table.clone()),
            journal: Journal::of_work(chain_table.clone(), "RANKINGS".to_owned()),
            chain_table,
        }
    }

    /// Requests of the unit of work so far.
    pub fn usage(&self) -> Usage {
        self.work.usage()
    }

    /// Undoes a batch that a crash left half written. Call it before anything else, and after an error.
    pub async fn open(&mut self) -> Result<(), RankError> {
        self.journal.open(&mut self.work).await?;
        Ok(())
    }

    /// Counts payments of each chain as of `now`, a Unix time in seconds. Returns how many entered or left a period: at
    /// most 50, and 0 once nothing is left to do.
    pub async fn step(&mut self, now: u64) -> Result<u16, RankError> {
        let mut step = Step::default();
        for index in 0..self.chains.len() {
            self.gather(index, now, &mut step).await?;
        }
        if step.payments == 0 {
            return Ok(0);
        }
        let payments = step.payments;
        let changes = self.with_collectors(step).await?;
        self.count(&changes).await?;
        Ok(payments)
    }

    /// Moves the spending of wallets that were connected or removed to the collector who has them now.
    pub async fn move_wallets(&mut self) -> Result<(), RankError> {
        for changed in self.outbox.oldest().await? {
            if let ArtistChange::WalletConnected { wallet } | ArtistChange::WalletRemoved { wallet } = changed.change {
                self.move_wallet(wallet).await?;
            }
            self.outbox.remove(changed.id).await?;
        }
        Ok(())
    }

    async fn move_wallet(&mut self, wallet: Address) -> Result<(), RankError> {
        let mut last = None;
        loop {
            let scopes = self.leaderboards.scopes_of(wallet, last, STEP).await?;
            let Some(next) = scopes.last().copied() else { return Ok(()) };
            let changes = scopes.into_iter().map(|scope| ((scope, wallet), Change::default())).collect();
            let changes = self.with_collectors(Step { payments: 0, changes }).await?;
            self.count(&changes).await?;
            last = Some(next);
        }
    }

    async fn count(&mut self, changes: &[SpendingChange]) -> Result<(), RankError> {
        self.work.count_spending(changes).await?;
        self.journal.commit_step(&mut self.work).await?;
        // The next step needs mostly other rows.
        self.work.clear();
        Ok(())
    }

    /// Adds the next payments of a chain to a step with room for them.
    async fn gather(&mut self, index: usize, now: u64, step: &mut Step) -> Result<(), RankError> {
        let Some(chain) = self.chains.get(index) else { return Ok(()) };
        let mut cursor = self.work.payment_cursor(chain.id).await?;
        let before = step.payments;
        for period in Period::EVERY {
            self.gather_old(chain, period, now, &mut cursor, step).await?;
        }
        self.gather_new(chain, now, &mut cursor, step).await?;
        if step.payments > before {
            self.work.set_payment_cursor(chain.id, &cursor)?;
        }
        Ok(())
    }

    /// Removes payments that a period doesn't reach back to any more.
    async fn gather_old(
        &self,
        chain: &Chain,
        period: Period,
        now: u64,
        cursor: &mut PaymentCursor,
        step: &mut Step,
    ) -> Result<(), RankError> {
        let since = cursor.since.entry(period).or_default();
        let counted = u16::try_from(cursor.next.saturating_sub(*since)).unwrap_or(u16::MAX);
        let room = (STEP - step.payments).min(counted);
        if period == Period::All || room == 0 {
            return Ok(());
        }
        for payment in self.chain_table.final_payments(chain.id, *since, room).await? {
            if reaches(period, now, &payment) {
                break;
            }
            step.add(chain, &payment, &self.scopes(chain, &payment), &[], &[period]);
            *since += 1;
        }
        Ok(())
    }

    /// Counts new payments in final blocks. It ends before a number that isn't there: a batch is being written.
    async fn gather_new(
        &self,
        chain: &Chain,
        now: u64,
        cursor: &mut PaymentCursor,
        step: &mut Step,
    ) -> Result<(), RankError> {
        let room = STEP - step.payments;
        // A full step may leave old payments to remove, which must come before new ones.
        if room == 0 {
            return Ok(());
        }
        for payment in self.chain_table.final_payments(chain.id, cursor.next, room).await? {
            let entered: Vec<_> = Period::EVERY.into_iter().filter(|period| reaches(*period, now, &payment)).collect();
            step.add(chain, &payment, &self.scopes(chain, &payment), &entered, &[]);
            cursor.next += 1;
            for period in Period::EVERY.into_iter().filter(|period| !entered.contains(period)) {
                cursor.since.insert(period, cursor.next);
            }
        }
        Ok(())
    }

    /// The rankings that a payment counts in. A chain has one of its own where it isn't the only one.
    fn scopes(&self, chain: &Chain, payment: &Payment) -> Vec<LeaderboardScope> {
        let mut scopes = Vec::new();
        if self.valued.contains(&chain.id) {
            scopes.extend([LeaderboardScope::All, LeaderboardScope::CreatedBy(payment.moment_creator)]);
        }
        if self.chains.len() > 1 {
            scopes.push(LeaderboardScope::On(chain.id));
        }
        scopes
    }

    /// Looks up the collector of each wallet.
    async fn with_collectors(&self, step: Step) -> Result<Vec<SpendingChange>, RankError> {
        let wallets: BTreeSet<_> = step.changes.keys().map(|(_, wallet)| *wallet).collect();
        let owners = self.artists.owners(&Vec::from_iter(wallets)).await?;
        let change = |((scope, wallet), Change { entered, left })| {
            let collector = owners.get(&wallet).copied().unwrap_or_else(|| ArtistId::of_wallet(wallet));
            SpendingChange { scope, wallet, collector, entered, left }
        };
        Ok(step.changes.into_iter().map(change).collect())
    }
}

impl Step {
    fn add(
        &mut self,
        chain: &Chain,
        payment: &Payment,
        scopes: &[LeaderboardScope],
        entered: &[Period],
        left: &[Period],
    ) {
        let spending = spending(chain, payment);
        for scope in scopes {
            let change = self.changes.entry((*scope, payment.buyer)).or_default();
            for (periods, tally) in [(entered, &mut change.entered), (left, &mut change.left)] {
                for period in periods {
                    let sum = tally.entry(*period).or_default();
                    *sum = sum.plus(spending);
                }
            }
        }
        self.payments += 1;
    }
}

/// Whether a period reaches back to a payment.
fn reaches(period: Period, now: u64, payment: &Payment) -> bool {
    period.seconds().is_none_or(|seconds| payment.transferred_at > now.saturating_sub(seconds))
}

/// A payment as spending of its buyer. Currencies other than the chain's own and its USDC count as collects only.
fn spending(chain: &Chain, payment: &Payment) -> Spending {
    let zero = Spending { collected_count: 1, ..Spending::default() };
    match payment.currency {
        Address::ZERO => Spending { eth_spent: payment.paid, ..zero },
        currency if chain.addresses.is_usdc(currency.into()) => Spending { usdc_spent: payment.paid, ..zero },
        _ => zero,
    }
}
