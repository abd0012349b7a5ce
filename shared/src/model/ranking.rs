use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    amount::Amount,
    day::DAY,
    text::{serde_as_text, words},
};

/// Rolling period of a list: the last 24 hours (`day`), 7 days (`week`) or 30 days (`month`), or all time (`all`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum Period {
    /// The last 24 hours.
    Day,
    /// The last 7 days.
    Week,
    /// The last 30 days.
    Month,
    /// All time.
    All,
}

/// Field that collectors are ranked by: the number of paid collects, or the sum paid in one currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum RankedBy {
    /// Number of paid collects.
    CollectedCount,
    /// Sum paid in the chain's own currency.
    EthSpent,
    /// Sum paid in USDC.
    UsdcSpent,
}

/// Order of a ranking. Ties break by artist id: ascending in descending order, and the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
pub enum SortOrder {
    /// Lowest first.
    #[schema(rename = "asc")]
    Ascending,
    /// Highest first.
    #[schema(rename = "desc")]
    Descending,
}

/// A collector's paid collects and the sums paid for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spending {
    /// Number of paid collects in any currency.
    pub collected_count: u64,
    /// Sum paid in the chain's own currency, in wei.
    pub eth_spent: Amount,
    /// Sum paid in USDC, in millionths of a USDC.
    pub usdc_spent: Amount,
}

impl Period {
    /// All periods, the shortest first.
    pub const EVERY: [Self; 4] = [Self::Day, Self::Week, Self::Month, Self::All];

    /// Length in seconds; `None` for all time.
    pub fn seconds(self) -> Option<u64> {
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
    /// The sum of both.
    pub fn plus(self, other: Self) -> Self {
        Self {
            collected_count: self.collected_count.saturating_add(other.collected_count),
            eth_spent: Amount(self.eth_spent.0.saturating_add(other.eth_spent.0)),
            usdc_spent: Amount(self.usdc_spent.0.saturating_add(other.usdc_spent.0)),
        }
    }

    /// The difference to `other`, at least 0.
    pub fn minus(self, other: Self) -> Self {
        Self {
            collected_count: self.collected_count.saturating_sub(other.collected_count),
            eth_spent: Amount(self.eth_spent.0.saturating_sub(other.eth_spent.0)),
            usdc_spent: Amount(self.usdc_spent.0.saturating_sub(other.usdc_spent.0)),
        }
    }

    /// Value of the field `by`, in its unit; at most 2^128 - 1.
    pub fn score(self, by: RankedBy) -> u128 {
        match by {
            RankedBy::CollectedCount => self.collected_count.into(),
            RankedBy::EthSpent => self.eth_spent.0.saturating_to(),
            RankedBy::UsdcSpent => self.usdc_spent.0.saturating_to(),
        }
    }
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
    fn printed_names_parse_and_others_are_refused() {
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
