use crate::model::{Fees, MarketFees};

impl MarketFees {
    /// Fees that outlast a doubling of the base fee, at most `cap`.
    pub fn quote(self, cap: u64) -> Fees {
        let max = self.base.saturating_mul(2).saturating_add(self.tip).min(cap);
        Fees { max_fee_per_gas: max, max_priority_fee_per_gas: self.tip.min(max) }
    }

    /// Whether the next block admits a transaction with these fees.
    pub fn admits(self, fees: Fees) -> bool {
        fees.max_fee_per_gas >= self.base
    }

    /// Whether one of a new transaction's fees would be as high as that of a replacement for these.
    pub fn exceeds(self, fees: Fees) -> bool {
        let wanted = self.quote(u64::MAX);
        let replaces = |wanted: u64, fee: u64| higher(fee).is_some_and(|least| wanted >= least);
        replaces(wanted.max_fee_per_gas, fees.max_fee_per_gas)
            || replaces(wanted.max_priority_fee_per_gas, fees.max_priority_fee_per_gas)
    }
}

impl Fees {
    /// Fees that can replace these: both at least an eighth higher (geth requires a tenth, others up to an eighth), and
    /// enough for `market`. `None` above `cap`: the transaction is sent again as it is until the chain is cheaper.
    pub fn bump(self, market: MarketFees, cap: u64) -> Option<Self> {
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

/// The least fee of a replacement: an eighth higher.
fn higher(fee: u64) -> Option<u64> {
    fee.checked_add(fee.div_ceil(8).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAP: u64 = 50_000_000_000;

    #[test]
    fn quote_outlasts_a_doubling_of_the_base_fee_within_the_cap() {
        let fees = MarketFees { block: 1, base: 1_000, tip: 10 }.quote(CAP);
        assert_eq!(fees, Fees { max_fee_per_gas: 2_010, max_priority_fee_per_gas: 10 });
        let capped = MarketFees { block: 1, base: CAP, tip: 2 * CAP }.quote(CAP);
        assert_eq!(capped, Fees { max_fee_per_gas: CAP, max_priority_fee_per_gas: CAP });
    }

    #[test]
    fn market_exceeds_fees_once_either_of_its_own_is_an_eighth_higher() {
        let fees = MarketFees { block: 1, base: 1_000, tip: 16 }.quote(CAP);
        let exceeds = |base, tip| MarketFees { block: 2, base, tip }.exceeds(fees);
        assert_eq!([exceeds(1_000, 16), exceeds(1_125, 16), exceeds(1_126, 16)], [false, false, true]);
        assert_eq!([exceeds(500, 17), exceeds(500, 18)], [false, true]);
    }

    #[test]
    fn every_bump_raises_both_fees_by_an_eighth_until_the_cap() {
        let market = MarketFees { block: 1, base: 1, tip: 1 };
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
    fn bump_follows_the_market_at_once() {
        let fees = Fees { max_fee_per_gas: 2_010, max_priority_fee_per_gas: 10 };
        let bumped = fees.bump(MarketFees { block: 1, base: 10_000, tip: 10 }, CAP).unwrap();
        assert_eq!(bumped, Fees { max_fee_per_gas: 20_010, max_priority_fee_per_gas: 12 });
    }
}
