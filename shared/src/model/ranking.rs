use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Amount, Invalid, serde_as_text};

/// How far back a list goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum Period {
    /// The last 24 hours.
    Day,
    /// The last 7 days.
    Week,
    /// The last 30 days.
    Month,
    /// Everything.
    All,
}

/// What collectors are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum RankedBy {
    /// How many paid collects.
    CollectedCount,
    /// What they came to in the chain's own currency.
    EthSpent,
    /// What they came to in USDC.
    UsdcSpent,
}

/// Which end of a ranking comes first. Equals stand in the order of their artist ids either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
pub enum SortOrder {
    /// The least first.
    #[schema(rename = "asc")]
    Ascending,
    /// The most first.
    #[schema(rename = "desc")]
    Descending,
}

/// What somebody collected, and paid for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spending {
    /// How many paid collects, whatever they were paid in.
    pub collected_count: u64,
    /// What they came to in wei.
    pub eth_spent: Amount,
    /// What they came to in millionths of a USDC.
    pub usdc_spent: Amount,
}

impl Period {
    /// All periods.
    pub const EVERY: [Self; 4] = [Self::Day, Self::Week, Self::Month, Self::All];

    /// How many seconds it looks back, if not to the beginning.
    pub fn seconds(self) -> Option<u64> {
        const DAY: u64 = 24 * 60 * 60;
        match self {
            Self::Day => Some(DAY),
            Self::Week => Some(7 * DAY),
            Self::Month => Some(30 * DAY),
            Self::All => None,
        }
    }
}

impl RankedBy {
    /// All fields.
    pub const EVERY: [Self; 3] = [Self::CollectedCount, Self::EthSpent, Self::UsdcSpent];
}

impl SortOrder {
    /// Both orders.
    pub const BOTH: [Self; 2] = [Self::Ascending, Self::Descending];
}

impl Spending {
    /// What both come to.
    pub fn plus(self, other: Self) -> Self {
        Self {
            collected_count: self.collected_count.saturating_add(other.collected_count),
            eth_spent: Amount(self.eth_spent.0.saturating_add(other.eth_spent.0)),
            usdc_spent: Amount(self.usdc_spent.0.saturating_add(other.usdc_spent.0)),
        }
    }

    /// What is left without `other`.
    pub fn minus(self, other: Self) -> Self {
        Self {
            collected_count: self.collected_count.saturating_sub(other.collected_count),
            eth_spent: Amount(self.eth_spent.0.saturating_sub(other.eth_spent.0)),
            usdc_spent: Amount(self.usdc_spent.0.saturating_sub(other.usdc_spent.0)),
        }
    }

    /// What ranks it, in the unit in which it is kept. Nobody has spent more than 128 bits can say.
    pub fn score(self, by: RankedBy) -> u128 {
        match by {
            RankedBy::CollectedCount => self.collected_count.into(),
            RankedBy::EthSpent => self.eth_spent.0.saturating_to(),
            RankedBy::UsdcSpent => self.usdc_spent.0.saturating_to(),
        }
    }
}

/// Implements `FromStr` and `Display` for an enum whose values have fixed words, as they are sent and stored.
macro_rules! words {
    ($type:ident, $refused:literal, $($value:ident = $word:literal),+) => {
        impl FromStr for $type {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                match text {
                    $($word => Ok(Self::$value),)+
                    _ => Err(Invalid($refused)),
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(match self {
                    $(Self::$value => $word,)+
                })
            }
        }
    };
}

words!(Period, "must be day, week, month or all", Day = "day", Week = "week", Month = "month", All = "all");
serde_as_text!(Period);
words!(
    RankedBy,
    "must be collected_count, eth_spent or usdc_spent",
    CollectedCount = "collected_count",
    EthSpent = "eth_spent",
    UsdcSpent = "usdc_spent"
);
words!(SortOrder, "must be asc or desc", Ascending = "asc", Descending = "desc");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are_written() {
        for period in Period::EVERY {
            assert_eq!(period.to_string().parse(), Ok(period));
        }
        for by in RankedBy::EVERY {
            assert_eq!(by.to_string().parse(), Ok(by));
        }
        for order in SortOrder::BOTH {
            assert_eq!(order.to_string().parse(), Ok(order));
        }
        for text in ["", "year", "Day", " day", "ALL"] {
            assert!(text.parse::<Period>().is_err(), "{text:?} was accepted");
        }
    }
}
