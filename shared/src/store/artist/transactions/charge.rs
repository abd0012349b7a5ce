use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::Amount;

/// Artists who share a daily budget: newcomers, however many, can't use up that of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pool {
    /// Artists who came lately.
    Newcomers,
    /// Artists who have been there for longer.
    Regulars,
    /// Artists whose moments are collected, too.
    Established,
}

/// A pool's daily budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolLimit {
    /// The pool.
    pub pool: Pool,
    /// Its budget, in wei.
    pub wei: u64,
    /// Wei that an artist may spend on a day even if it is used up.
    pub assured: u64,
}

/// What is counted for a transaction against the daily limit of its key, or of old tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedOutlay {
    /// Day that it counts for, from the Unix epoch.
    pub day: u64,
    /// Wei.
    pub eth: Amount,
    /// Millionths of a USDC.
    pub usdc: Amount,
}

/// A transaction's share of the budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    /// Reserved wei; once the transaction is final, what it cost.
    pub wei: u64,
    /// Day that it counts for, from the Unix epoch.
    pub day: u64,
    /// Pool that it counts for.
    pub pool: Pool,
    /// Counter of the pool.
    pub shard: u8,
}

impl fmt::Display for Pool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Newcomers => "new artists",
            Self::Regulars => "artists with few paid collects this month",
            Self::Established => "established artists",
        })
    }
}

impl Pool {
    pub(in crate::store::artist) fn word(self) -> &'static str {
        match self {
            Self::Newcomers => "NEWCOMERS",
            Self::Regulars => "REGULARS",
            Self::Established => "ESTABLISHED",
        }
    }
}
