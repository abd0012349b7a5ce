//! What the service pays for on a chain and a day (UTC). docs/operations.md has the defaults' arithmetic.

use alloy::primitives::{Address, address};
use serde::Deserialize;

use crate::{
    model::{COUNTED_DAYS, ChainId, DAY, Stats},
    store::artist::{Pool, PoolLimit},
};

/// Gas price oracle of chains of the OP stack: <https://specs.optimism.io/protocol/predeploys.html#gaspriceoracle>
const OP_STACK_ORACLE: Address = address!("420000000000000000000000000000000000000F");

/// Days for which an artist is a newcomer.
const PROBATION: u64 = 7;
/// Paid collects of the last 30 days by which an artist is established. Each one costs the protocol's fee, so that a share
/// of the service's money can't be had for nothing, nor kept for ever.
const PAYMENTS: u64 = 10;
/// Part of the newcomers' budget that one network may have: artists cost nothing.
const SHARE: u64 = 10;
/// Part of a new artist's budget that no pool refuses to whoever had a paid collect in the last 30 days.
const ASSURED: u64 = 16;

/// Limits of what the service spends on a chain, in wei.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spending {
    /// Most per unit of gas.
    pub max_fee_per_gas: u64,
    /// Daily budget of a new artist.
    pub artist_daily: u64,
    /// Daily budget of all new artists together.
    pub newcomers_daily: u64,
    /// What new artists of one network may reserve of it on a day, unless a collect of theirs was paid for.
    pub network_daily: u64,
    /// Daily budget of all artists together who have been there for longer, with few paid collects.
    pub regulars_daily: u64,
    /// Daily budget of all other artists together.
    pub established_daily: u64,
    /// Contract that knows the fee for data on the layer below, on chains that have one.
    pub l1_fee_oracle: Option<Address>,
}

/// Overrides of a chain's defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SpendingSettings {
    max_fee_per_gas: Option<u64>,
    artist_daily: Option<u64>,
    newcomers_daily: Option<u64>,
    network_daily: Option<u64>,
    regulars_daily: Option<u64>,
    established_daily: Option<u64>,
    l1_fee_oracle: Option<Address>,
}

/// How long an artist has been there, and what collectors paid for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Seconds since the first sign-in.
    pub age: u64,
    /// Paid collects of the artist's moments on the chain in the last 30 days.
    pub payments: u64,
}

impl History {
    /// That of an artist at a time, given the first sign-in, both in Unix seconds, and what is counted on the chain.
    pub fn at(now: u64, joined_at: u64, stats: Option<&Stats>) -> Self {
        let first_day = (now / DAY + 1).saturating_sub(COUNTED_DAYS);
        let payments = stats.map_or(0, |stats| stats.since(first_day).paid);
        Self { age: now.saturating_sub(joined_at), payments }
    }
}

impl Spending {
    pub(super) fn of(chain: ChainId, settings: &SpendingSettings) -> Self {
        let default = Self::default_of(chain);
        let newcomers_daily = settings.newcomers_daily.unwrap_or(default.newcomers_daily);
        Self {
            max_fee_per_gas: settings.max_fee_per_gas.unwrap_or(default.max_fee_per_gas),
            artist_daily: settings.artist_daily.unwrap_or(default.artist_daily),
            newcomers_daily,
            network_daily: settings.network_daily.unwrap_or(newcomers_daily / SHARE),
            regulars_daily: settings.regulars_daily.unwrap_or(default.regulars_daily),
            established_daily: settings.established_daily.unwrap_or(default.established_daily),
            l1_fee_oracle: settings.l1_fee_oracle.or(default.l1_fee_oracle),
        }
    }

    fn default_of(chain: ChainId) -> Self {
        const GWEI: u64 = 1_000_000_000;
        const MILLIETHER: u64 = 1_000_000 * GWEI;
        let layer_2 = Self {
            max_fee_per_gas: 5 * GWEI,
            artist_daily: 2 * MILLIETHER,
            newcomers_daily: 50 * MILLIETHER,
            network_daily: 50 * MILLIETHER / SHARE,
            regulars_daily: 100 * MILLIETHER,
            established_daily: 500 * MILLIETHER,
            l1_fee_oracle: None,
        };
        match chain.0 {
            1 | 11_155_111 => Self {
                max_fee_per_gas: 50 * GWEI,
                artist_daily: 100 * MILLIETHER,
                newcomers_daily: 1_000 * MILLIETHER,
                network_daily: 1_000 * MILLIETHER / SHARE,
                regulars_daily: 2_000 * MILLIETHER,
                established_daily: 5_000 * MILLIETHER,
                l1_fee_oracle: None,
            },
            8_453 | 84_532 => Self { l1_fee_oracle: Some(OP_STACK_ORACLE), ..layer_2 },
            _ => layer_2,
        }
    }

    /// A new artist's daily budget, again for each week (up to 4) and each ten paid collects (up to 15 times).
    pub fn artist_limit(&self, history: History) -> u64 {
        let weeks = (history.age / (7 * DAY)).min(4);
        let collects = (history.payments / PAYMENTS).min(15);
        self.artist_daily.saturating_mul(1 + weeks + collects)
    }

    /// Whether an artist counts for the share of a network, if it is less than the whole.
    pub fn is_of_a_network(&self, history: History) -> bool {
        let is_limited = self.network_daily < self.newcomers_daily;
        is_limited && self.pool(history).pool == Pool::Newcomers && history.payments == 0
    }

    /// The budget that an artist shares, by how long the artist has been there, and by paid collects.
    pub fn pool(&self, History { age, payments }: History) -> PoolLimit {
        let (pool, wei) = match (age >= PROBATION * DAY, payments >= PAYMENTS) {
            (false, _) => (Pool::Newcomers, self.newcomers_daily),
            (true, false) => (Pool::Regulars, self.regulars_daily),
            (true, true) => (Pool::Established, self.established_daily),
        };
        let assured = if payments > 0 { self.artist_daily / ASSURED } else { 0 };
        PoolLimit { pool, wei, assured }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{
        collection::vec,
        prelude::{Just, Strategy, prop_assert_eq, prop_oneof, proptest},
    };

    use super::*;
    use crate::model::Counts;

    fn defaults(chain: u64) -> Spending {
        Spending::of(ChainId(chain), &SpendingSettings::default())
    }

    /// Gas limits: the account's deployment, a collection with its first moment, eleven more moments.
    const DOZEN: u64 = 400_000 + 1_400_000 + 11 * 800_000;

    #[test]
    fn new_artist_publishes_a_dozen_moments_at_usual_fees_even_before_any_is_mined() {
        // Twice the base fee, and the tip.
        for (chain, usual_fee) in [(8_453, 2 * 50_000_000 + 10_000_000), (1, 2 * 4_000_000_000 + 100_000_000)] {
            assert!(DOZEN * usual_fee <= defaults(chain).artist_limit(History::default()), "{chain}");
        }
    }

    #[test]
    fn budget_grows_with_age_and_paid_collects_to_twenty_times() {
        let spending = defaults(8_453);
        let limit = |age, payments| spending.artist_limit(History { age, payments }) / spending.artist_daily;
        assert_eq!([limit(0, 9), limit(7 * DAY, 0), limit(8 * DAY, 25), limit(u64::MAX, u64::MAX)], [1, 2, 4, 20]);
    }

    #[test]
    fn a_week_and_then_ten_paid_collects_lead_from_pool_to_pool() {
        let pool = |age, payments| defaults(1).pool(History { age, payments }).pool;
        assert_eq!(pool(7 * DAY - 1, 1_000), Pool::Newcomers);
        assert_eq!([pool(7 * DAY, 0), pool(1_000 * DAY, 9)], [Pool::Regulars; 2]);
        assert_eq!(pool(7 * DAY, 10), Pool::Established);
    }

    #[test]
    fn paid_collects_count_for_thirty_days_and_then_entitle_to_nothing() {
        const FIRST: u64 = 20_000;
        let mut stats = Stats::default();
        for (day, paid) in [(FIRST, 9), (FIRST + 1, 1)] {
            stats.count(day, Counts { paid, ..Counts::default() }, None);
        }
        let at = |days| History::at((FIRST + days) * DAY + DAY / 2, FIRST * DAY, Some(&stats));
        assert_eq!([29, 30, 31].map(|days| at(days).payments), [10, 1, 0]);
        let pool = |days| defaults(8_453).pool(at(days));
        assert_eq!([29, 30, 31].map(|days| pool(days).pool), [Pool::Established, Pool::Regulars, Pool::Regulars]);
        assert!(pool(30).assured > 0 && pool(31).assured == 0);
        assert_eq!(at(31).age, 31 * DAY + DAY / 2);
        assert_eq!(History::at(FIRST * DAY, 0, None).payments, 0);
    }

    fn second() -> impl Strategy<Value = u64> {
        prop_oneof![Just(0_u64), Just(DAY - 1), 0..DAY]
    }

    proptest! {
        /// Each step is some days later, at a second that is mostly beside midnight, and has some paid collects.
        #[test]
        fn every_paid_collect_entitles_until_the_thirtieth_midnight_after_it(
            steps in vec((prop_oneof![Just(0_u64), Just(1), 0..40_u64], second(), 0..4_u64), 1..40),
        ) {
            let (spending, mut stats) = (defaults(8_453), Stats::default());
            let (mut now, mut collects) = (20_000 * DAY, Vec::new());
            for (days, second, paid) in steps {
                // Blocks never go back.
                now = now.max((now / DAY + days) * DAY + second);
                stats.count(now / DAY, Counts { paid, ..Counts::default() }, None);
                collects.push((now, paid));
                let midnight = |days: u64| (now / DAY + days) * DAY;
                for asked in [now, midnight(1) - 1, midnight(1), midnight(29), midnight(30) - 1, midnight(30)] {
                    let history = History::at(asked, 0, Some(&stats));
                    let counts = |at: u64| asked < (at / DAY + 30) * DAY;
                    let payments = collects.iter().filter(|(at, _)| counts(*at)).map(|(_, paid)| paid).sum::<u64>();
                    prop_assert_eq!(history.payments, payments);
                    let pool = if payments >= 10 { Pool::Established } else { Pool::Regulars };
                    let limit = spending.pool(history);
                    prop_assert_eq!((limit.pool, limit.assured > 0), (pool, payments > 0));
                }
            }
        }
    }

    #[test]
    fn a_network_has_a_tenth_of_what_newcomers_share_until_a_collect_is_paid_for() {
        let spending = defaults(8_453);
        assert_eq!(spending.network_daily * 10, spending.newcomers_daily);
        let settings = SpendingSettings { newcomers_daily: Some(30), ..SpendingSettings::default() };
        assert_eq!(Spending::of(ChainId(8_453), &settings).network_daily, 3);
        let is_of_a_network = |age, payments| spending.is_of_a_network(History { age, payments });
        assert_eq!([is_of_a_network(0, 0), is_of_a_network(0, 1), is_of_a_network(7 * DAY, 0)], [true, false, false]);
        let whole = Spending { network_daily: spending.newcomers_daily, ..spending };
        assert!(!whole.is_of_a_network(History { age: 0, payments: 0 }));
    }

    #[test]
    fn one_paid_collect_assures_a_few_writes_and_none_assures_nothing() {
        let assured = |payments| defaults(8_453).pool(History { age: 0, payments }).assured;
        assert_eq!((assured(0), assured(1)), (0, 125_000_000_000_000));
    }

    #[test]
    fn every_limit_can_be_overridden() {
        let settings = r#"{"maxFeePerGas": 1, "artistDaily": 2, "newcomersDaily": 3, "networkDaily": 6, "regularsDaily": 4,
            "establishedDaily": 5, "l1FeeOracle": "0x0000000000000000000000000000000000000005"}"#;
        let settings: SpendingSettings = serde_json::from_str(settings).unwrap();
        let oracle = Some(Address::with_last_byte(5));
        let expected = Spending {
            max_fee_per_gas: 1,
            artist_daily: 2,
            newcomers_daily: 3,
            network_daily: 6,
            regulars_daily: 4,
            established_daily: 5,
            l1_fee_oracle: oracle,
        };
        assert_eq!(Spending::of(ChainId(1), &settings), expected);
    }
}
