//! What a transaction offers for its gas. Amounts are wei per unit of gas.

use serde::{Deserialize, Serialize};

/// The fees of one signed attempt (EIP-1559).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fees {
    /// The most that is paid, base fee and tip together.
    pub max_fee_per_gas: u64,
    /// The most of it that goes to whoever makes the block.
    pub max_priority_fee_per_gas: u64,
}

/// What the next block asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarketFees {
    /// The next block's base fee.
    pub base: u64,
    /// What transactions have lately paid on top.
    pub tip: u64,
}

impl MarketFees {
    /// Fees that outlast a doubling of the base fee, but never exceed `cap`.
    pub fn quote(self, cap: u64) -> Fees {
        let max = self.base.saturating_mul(2).saturating_add(self.tip).min(cap);
        Fees { max_fee_per_gas: max, max_priority_fee_per_gas: self.tip.min(max) }
    }

    /// Whether the next block can take a transaction with these fees.
    pub fn admits(self, fees: Fees) -> bool {
        fees.max_fee_per_gas >= self.base
    }
}

impl Fees {
    /// Fees with which nodes let a transaction replace one with these: both an eighth higher at least (geth asks for a
    /// tenth, others for as much as an eighth), and enough for `market`. `None` when that passes `cap`: the transaction
    /// then stays as it is and is sent again until the chain gets cheaper.
    pub fn bump(self, market: MarketFees, cap: u64) -> Option<Self> {
        let higher = |fee: u64| fee.checked_add(fee.div_ceil(8).max(1));
        let least = higher(self.max_fee_per_gas)?;
        if least > cap {
            return None;
        }
        let wanted = market.quote(cap);
        let max = wanted.max_fee_per_gas.max(least);
        let tip = wanted.max_priority_fee_per_gas.max(higher(self.max_priority_fee_per_gas)?);
        Some(Self { max_fee_per_gas: max, max_priority_fee_per_gas: tip.min(max) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAP: u64 = 50_000_000_000;

    #[test]
    fn a_quote_outlasts_a_doubling_and_stays_under_the_cap() {
        let fees = MarketFees { base: 1_000, tip: 10 }.quote(CAP);
        assert_eq!(fees, Fees { max_fee_per_gas: 2_010, max_priority_fee_per_gas: 10 });
        let capped = MarketFees { base: CAP, tip: 2 * CAP }.quote(CAP);
        assert_eq!(capped, Fees { max_fee_per_gas: CAP, max_priority_fee_per_gas: CAP });
    }

    #[test]
    fn every_bump_raises_both_fees_by_an_eighth_until_the_cap() {
        let market = MarketFees { base: 1, tip: 1 };
        let mut fees = Fees { max_fee_per_gas: 1_000_000_000, max_priority_fee_per_gas: 1_000_001 };
        let mut bumps = 0;
        while let Some(next) = fees.bump(market, CAP) {
            assert!(next.max_fee_per_gas * 8 >= fees.max_fee_per_gas * 9);
            assert!(next.max_priority_fee_per_gas * 8 >= fees.max_priority_fee_per_gas * 9);
            assert!(next.max_fee_per_gas <= CAP && next.max_priority_fee_per_gas <= next.max_fee_per_gas);
            fees = next;
            bumps += 1;
        }
        assert_eq!(bumps, 33);
    }

    #[test]
    fn a_bump_follows_the_market_at_once() {
        let fees = Fees { max_fee_per_gas: 2_010, max_priority_fee_per_gas: 10 };
        let bumped = fees.bump(MarketFees { base: 10_000, tip: 10 }, CAP).unwrap();
        assert_eq!(bumped, Fees { max_fee_per_gas: 20_010, max_priority_fee_per_gas: 12 });
    }
}
