//! Counting what was spent, through a unit of work.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{RankedCollector, Ranking, RankingScope, Tally, collector_key, cursor_key, spending_key};
use crate::{
    model::{Address, ArtistId, ChainId, Period, Spending},
    store::{RankKey, RankedSet, StoreError, Unit},
};

/// Which payments of a chain are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentCursor {
    /// Number of the first payment that isn't counted yet.
    pub next: u64,
    /// Number of the first that a period still looks back to; every one before is taken out of the period again.
    pub since: BTreeMap<Period, u64>,
}

/// What changed of what a wallet spent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpendingChange {
    /// Whose moments were collected.
    pub scope: RankingScope,
    /// Who paid.
    pub wallet: Address,
    /// Who the wallet counts for now.
    pub collector: ArtistId,
    /// What is to be added in each period.
    pub entered: BTreeMap<Period, Spending>,
    /// What is to be taken out again.
    pub left: BTreeMap<Period, Spending>,
}

/// What a wallet spent in a scope.
#[derive(Clone, Serialize, Deserialize)]
struct WalletRow {
    collector: ArtistId,
    spent: Tally,
}

/// What a collector spent in a scope.
#[derive(Clone, Default, Serialize, Deserialize)]
struct CollectorRow {
    spent: Tally,
}

/// What changes of a collector.
struct Shift {
    wallet: Address,
    entered: Tally,
    left: Tally,
}

/// A change of one list.
struct Move {
    set: RankedSet,
    from: Option<RankKey>,
    to: Option<RankKey>,
    row: RankedCollector,
}

impl Unit {
    /// Which payments of a chain are counted.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn payment_cursor(&mut self, chain: ChainId) -> Result<PaymentCursor, StoreError> {
        Ok(self.get(&cursor_key(chain)).await?.unwrap_or_default())
    }

    /// Remembers which payments of a chain are counted.
    ///
    /// # Errors
    /// When the row can't be written down, which is a fault of ours.
    pub fn set_payment_cursor(&mut self, chain: ChainId, cursor: &PaymentCursor) -> Result<(), StoreError> {
        self.put(&cursor_key(chain), cursor)
    }

    /// Counts what wallets spent, and puts the collectors in their new places. A wallet that has changed hands takes
    /// along what it spent before. Costs what changes, however many collectors there are.
    ///
    /// # Errors
    /// When storage fails.
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
        shifts: &mut BTreeMap<(RankingScope, ArtistId), Shift>,
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
        scope: RankingScope,
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
            for ranking in Ranking::every(scope, period) {
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

/// A period in which nothing is left has no entry.
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
