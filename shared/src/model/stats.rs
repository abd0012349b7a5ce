use serde::{Deserialize, Serialize};

use super::{address::Address, amount::Amount, moment::ChainId};

/// Days whose counts are kept one by one.
pub const COUNTED_DAYS: u64 = 30;

/// Whose counts are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatsSubject {
    /// An account that creates moments, or sends collectors.
    Artist(Address),
    /// A collection.
    Collection(Address),
}

/// What happened to the subject's moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Moments created.
    pub created: u64,
    /// Collects, paid or not.
    pub collects: u64,
    /// Collects that were paid for.
    pub paid: u64,
    /// Tokens collected.
    pub tokens: Amount,
    /// Accounts that collected.
    pub collectors: u64,
    /// Proceeds in the chain's own currency, in wei.
    pub eth: Amount,
    /// Proceeds in USDC, in millionths of a USDC.
    pub usdc: Amount,
    /// Collects whose collector was sent by somebody.
    pub referred: u64,
    /// Collects whose collector the account sent.
    pub referrals: u64,
    /// What it got for them in the chain's own currency, in wei.
    pub referral_eth: Amount,
    /// What it got for them in USDC, in millionths of a USDC.
    pub referral_usdc: Amount,
}

/// The counts of a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayCounts {
    /// Days since 1970, in UTC.
    pub day: u64,
    /// Of accounts that collected, those that haven't since: the sum over the days of a period that ends now has each once.
    pub counts: Counts,
}

/// All that is counted of a subject.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Of all time.
    pub total: Counts,
    /// Of the [`COUNTED_DAYS`] up to the newest one with anything, those that have any; the newest last.
    pub days: Vec<DayCounts>,
}

/// A subject on a chain.
pub type CountedSubject = (ChainId, StatsSubject);

impl Counts {
    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let sum = |one: Amount, other: Amount| Amount(one.0.saturating_add(other.0));
        Self {
            created: self.created.saturating_add(other.created),
            collects: self.collects.saturating_add(other.collects),
            paid: self.paid.saturating_add(other.paid),
            tokens: sum(self.tokens, other.tokens),
            collectors: self.collectors.saturating_add(other.collectors),
            eth: sum(self.eth, other.eth),
            usdc: sum(self.usdc, other.usdc),
            referred: self.referred.saturating_add(other.referred),
            referrals: self.referrals.saturating_add(other.referrals),
            referral_eth: sum(self.referral_eth, other.referral_eth),
            referral_usdc: sum(self.referral_usdc, other.referral_usdc),
        }
    }
}

impl Stats {
    /// Adds what happened on a day, the newest one. A collector who collected `before`, on an earlier day or this one, counts
    /// on the new day alone.
    pub fn count(&mut self, day: u64, counts: Counts, collector: Option<LastCollect>) {
        self.add(day, counts);
        self.total = self.total.plus(counts);
        let (Some(LastCollect(before)), false) = (collector, collector == Some(LastCollect(Some(day)))) else { return };
        match before {
            None => self.total.collectors += 1,
            Some(before) => {
                if let Some(old) = self.days.iter_mut().find(|counted| counted.day == before) {
                    old.counts.collectors = old.counts.collectors.saturating_sub(1);
                }
            }
        }
        self.add(day, Counts { collectors: 1, ..Counts::default() });
    }

    /// The counts of days from `first` on.
    pub fn since(&self, first: u64) -> Counts {
        let days = self.days.iter().filter(|counted| counted.day >= first);
        days.fold(Counts::default(), |sum, counted| sum.plus(counted.counts))
    }

    fn add(&mut self, day: u64, counts: Counts) {
        match self.days.iter_mut().find(|counted| counted.day == day) {
            Some(counted) => counted.counts = counted.counts.plus(counts),
            None => {
                self.days.push(DayCounts { day, counts });
                self.days.retain(|counted| counted.day + COUNTED_DAYS > day);
            }
        }
    }
}

/// The day on which an account collected last, if it ever did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastCollect(pub Option<u64>);

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Collects by day and collector, counted one by one.
    fn stats(collects: &[(u64, u8)]) -> Stats {
        let (mut stats, mut last) = (Stats::default(), HashMap::new());
        for (day, collector) in collects {
            let before = LastCollect(last.insert(*collector, *day));
            stats.count(*day, Counts { collects: 1, ..Counts::default() }, Some(before));
        }
        stats
    }

    #[test]
    fn a_collector_of_many_days_counts_once_in_each_period() {
        let stats = stats(&[(100, 1), (100, 1), (100, 2), (105, 1), (110, 3), (110, 1)]);
        let since = |first| (stats.since(first).collects, stats.since(first).collectors);
        assert_eq!([since(110), since(105), since(101), since(100)], [(2, 2), (3, 2), (3, 2), (6, 3)]);
        assert_eq!((stats.total.collects, stats.total.collectors), (6, 3));
    }

    #[test]
    fn old_days_are_dropped_and_stay_in_the_total() {
        let stats = stats(&[(100, 1), (101, 2), (130, 3), (131, 1)]);
        assert_eq!(stats.days.iter().map(|counted| counted.day).collect::<Vec<_>>(), [130, 131]);
        assert_eq!((stats.since(102).collectors, stats.total.collectors, stats.total.collects), (2, 3, 4));
    }
}
