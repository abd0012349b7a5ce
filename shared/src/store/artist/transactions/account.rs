use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    model::{ArtistId, ChainId, DAY},
    store::{artist::rows, engine::table::PrimaryKey},
};

/// An artist's account on one chain, as the queue knows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountState {
    /// Whether the chain is known to have the account.
    #[serde(default)]
    pub deployed: bool,
    /// Transactions that aren't final yet.
    #[serde(default, deserialize_with = "at_least_zero")]
    pub waiting: u32,
    /// Turn of the newest transaction in the queue, in Unix milliseconds; rises with each.
    #[serde(default)]
    pub last_turn: u64,
    /// Day of `spent`, counted from the Unix epoch; never goes back.
    #[serde(default)]
    pub day: u64,
    /// Wei reserved or spent on that day.
    #[serde(default, deserialize_with = "at_least_zero")]
    pub spent: u64,
}

impl AccountState {
    /// The day that is charged at a time: clocks differ, and the later day counts.
    pub(super) fn charged_day(&self, now: Duration) -> u64 {
        self.day.max(now.as_secs() / DAY)
    }

    /// Wei reserved or spent on a day.
    pub fn spent_on(&self, day: u64) -> u64 {
        if self.day == day { self.spent } else { 0 }
    }
}

pub(super) fn account_key(artist: ArtistId, chain: ChainId) -> PrimaryKey {
    rows::account(artist, chain)
}

/// A counter that additions and subtractions may have taken below 0.
#[derive(Deserialize)]
#[serde(untagged)]
enum Counter {
    AtLeastZero(u64),
    Below(#[expect(dead_code, reason = "any number below 0 counts as 0")] i64),
}

fn at_least_zero<'de, D: Deserializer<'de>, T: TryFrom<u64>>(deserializer: D) -> Result<T, D::Error> {
    let counter = match Counter::deserialize(deserializer)? {
        Counter::AtLeastZero(counter) => counter,
        Counter::Below(_) => 0,
    };
    T::try_from(counter).map_err(|_| serde::de::Error::custom("a counter is too large"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counters_below_zero_count_as_zero() {
        let row: serde_dynamo::Item = serde_dynamo::to_item(json!({"waiting": -1, "spent": -5, "day": 7})).unwrap();
        let state: AccountState = serde_dynamo::from_item(row).unwrap();
        assert_eq!((state.waiting, state.spent), (0, 0));
        let row: serde_dynamo::Item =
            serde_dynamo::to_item(AccountState { waiting: 3, spent: u64::MAX, ..AccountState::default() }).unwrap();
        let state: AccountState = serde_dynamo::from_item(row).unwrap();
        assert_eq!((state.waiting, state.spent), (3, u64::MAX));
    }

    #[test]
    fn charged_day_never_goes_back() {
        let state = AccountState { day: 20_001, ..AccountState::default() };
        assert_eq!(state.charged_day(Duration::from_secs(20_000 * DAY)), 20_001);
        assert_eq!(state.charged_day(Duration::from_secs(20_002 * DAY)), 20_002);
    }
}
