use serde::{Deserialize, Serialize};

use crate::{
    model::{ArtistId, ChainId},
    store::{artist::rows, engine::table::PrimaryKey},
};

/// An artist's account on one chain, as the queue knows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountState {
    /// Whether the chain is known to have the account.
    #[serde(default)]
    pub deployed: bool,
    /// Transactions that aren't final yet.
    #[serde(default)]
    pub waiting: u32,
    /// Turn of the newest transaction in the queue, in Unix milliseconds; rises with each.
    #[serde(default)]
    pub last_turn: u64,
    /// Day of `spent`, counted from the Unix epoch.
    #[serde(default)]
    pub day: u64,
    /// Wei reserved or spent on that day.
    #[serde(default)]
    pub spent: u64,
}

impl AccountState {
    /// Wei reserved or spent on a day.
    pub fn spent_on(&self, day: u64) -> u64 {
        if self.day == day { self.spent } else { 0 }
    }
}

pub(super) fn account_key(artist: ArtistId, chain: ChainId) -> PrimaryKey {
    rows::account(artist, chain)
}
