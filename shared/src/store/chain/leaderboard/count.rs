use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::board::{Leaderboard, LeaderboardScope, RankedCollector, Tally, collector_key, cursor_key, spending_key};
use crate::{
    model::{Address, ArtistId, ChainId, Period, Spending},
    store::engine::{
        index::UnitOfWork,
        structures::ranked_set::{RankKey, RankedSet},
        table::StoreError,
    },
};

/// Range of a chain's payments that is counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentCursor {
    /// Number of the first uncounted payment.
    pub next: u64,
    /// Number of the first payment within each period; earlier ones have been subtracted again.
    pub since: BTreeMap<Period, u64>,
}

/// Change of a wallet's spending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpendingChange {
    /// Whose sales count.
    pub scope: LeaderboardScope,
    /// The paying wallet.
    pub wallet: Address,
    /// Collector whom the wallet counts for now.
    pub collector: ArtistId,
    /// Spending to add, by period.
    pub entered: BTreeMap<Period, Spending>,
    /// Spending to subtract, by period.
    pub left: BTreeMap<Period, Spending>,
}

#[derive(Clone, Serialize, Deserialize)]
struct WalletRow {
    collector: ArtistId,
    spent: Tally,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct CollectorRow {
    spent: Tally,
}

struct Shift {
    wallet: Address,
    entered: Tally,
    left: Tally,
}

struct Move {
    set: RankedSet,
    from: Option<RankKey>,
    to: Option<RankKey>,
    row: RankedCollector,
}

impl UnitOfWork {
    /// Returns which payments of a chain are counted.
    pub async fn payment_cursor(&mut self, chain: ChainId) -> Result<PaymentCursor, StoreError> {
        Ok(self.get(&cursor_key(chain)).await?.unwrap_or_default())
    }

    /// Stores which payments of a chain are counted.
    pub fn set_payment_cursor(&mut self, chain: ChainId, cursor: &PaymentCursor) -> Result<(), StoreError> {
        self.put(&cursor_key(chain), cursor)
    }

    /// Applies spending changes, at a cost of their number. A wallet that changed hands takes its past spending along.
    pub async fn count_spending(&mut self, changes: &[SpendingChange]) -> Result<(), StoreError> {
        let rows = changes.iter().flat_map(|change| {
            [spending_key(change.wallet, change.scope), collector_key(change.collector, change.scope)]
        });
        self.prefetch(rows).await?;
        let mut shifts = BTreeMap::new();
        for change in changes {
            self.count_wallet(change, &mut shifts).await?;
        }
        let mut moves = Vec::new();
        for ((scope, collector), shift) in shifts {
            self.count_collector(scope, collector, &shift, &mut moves).await?;
        }
        let places = moves.iter().filter(|each| each.from != each.to);
        let places = places.flat_map(|each| [each.from, each.to].into_iter().flatten().map(|key| (&each.set, key)));
        self.prefetch_places(&Vec::from_iter(places)).await?;
        for Move { set, from, to, row } in &moves {
            if let Some(from) = from.filter(|from| Some(*from) != *to) {
                set.remove(self, from).await?;
            }
            match to {
                Some(to) if Some(*to) == *from => set.replace(self, *to, row)?,
                Some(to) => set.insert(self, *to, row).await?,
                None => {}
            }
        }
        Ok(())
    }

    async fn count_wallet(
        &mut self,
        change: &SpendingChange,
        shifts: &mut BTreeMap<(LeaderboardScope, ArtistId), Shift>,
    ) -> Result<(), StoreError> {
        let SpendingChange { scope, wallet, collector, entered, left } = change;
        let key = spending_key(*wallet, *scope);
        let known: Option<WalletRow> = self.get(&key).await?;
        let mut row = known.unwrap_or_else(|| WalletRow { collector: *collector, spent: Tally::new() });
        let mut shift = |collector, entered: &Tally, left: &Tally| {
            let new = || Shift { wallet: *wallet, entered: Tally::new(), left: Tally::new() };
            let shift = shifts.entry((*scope, collector)).or_insert_with(new);
            (shift.entered, shift.left) = (plus(&shift.entered, entered), plus(&shift.left, left));
        };
        if row.collector != *collector {
            shift(row.collector, &Tally::new(), &row.spent);
            shift(*collector, &row.spent, &Tally::new());
            row.collector = *collector;
        }
        shift(*collector, entered, left);
        row.spent = minus(&plus(&row.spent, entered), left);
        self.put(&key, &row)
    }

    async fn count_collector(
        &mut self,
        scope: LeaderboardScope,
        collector: ArtistId,
        shift: &Shift,
        moves: &mut Vec<Move>,
    ) -> Result<(), StoreError> {
        let key = collector_key(collector, scope);
        let before: CollectorRow = self.get(&key).await?.unwrap_or_default();
        let after = CollectorRow { spent: minus(&plus(&before.spent, &shift.entered), &shift.left) };
        if after.spent.is_empty() {
            self.delete(&key);
        } else {
            self.put(&key, &after)?;
        }
        for period in Period::EVERY {
            let (old, new) = (before.spent.get(&period), after.spent.get(&period));
            if old == new {
                continue;
            }
            for ranking in Leaderboard::every(scope, period) {
                moves.push(Move {
                    set: ranking.set(),
                    from: old.map(|spending| ranking.place(collector, *spending)),
                    to: new.map(|spending| ranking.place(collector, *spending)),
                    row: RankedCollector {
                        artist_id: collector,
                        wallet: shift.wallet,
                        spending: new.copied().unwrap_or_default(),
                    },
                });
            }
        }
        Ok(())
    }
}

fn plus(one: &Tally, other: &Tally) -> Tally {
    let mut sum = one.clone();
    for (period, spending) in other {
        let entry = sum.entry(*period).or_default();
        *entry = entry.plus(*spending);
    }
    sum
}

fn minus(one: &Tally, other: &Tally) -> Tally {
    let mut rest = one.clone();
    for (period, spending) in other {
        if let Some(entry) = rest.get_mut(period) {
            *entry = entry.minus(*spending);
        }
    }
    rest.retain(|_, spending| spending.collected_count > 0);
    rest
}
