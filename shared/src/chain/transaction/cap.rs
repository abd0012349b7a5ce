use alloy::primitives::Address;

use super::{
    packing::tokens,
    simulate::{SimulationError, attempt, with_stand_in},
};
use crate::chain::{node::Node, wallet::Call};

/// The most gas that an account's calls should get, deployed or not: what they use now, and a margin. One RPC call.
///
/// The margin is a fifth and 20,000. Until the calls are made, somebody else's can make one storage slot cost 17,100
/// more (one to be set rather than changed), and a callback to the account runs through its proxy, which the estimate
/// leaves out. What isn't used isn't paid for: a margin takes room in a transaction, too small a cap makes a write fail.
pub async fn gas_cap(node: &Node, account: Address, calls: &[Call]) -> Result<u64, SimulationError> {
    let (request, _) = attempt(account, calls);
    let data = request.input.input().cloned().unwrap_or_default();
    let estimate = node.estimate_gas_with(&request, &with_stand_in(account)).await.map_err(SimulationError::of)?;
    Ok(with_margin(estimate.saturating_sub(intrinsic(&data))))
}

/// Gas of a transaction with this call data before the call itself starts.
pub(super) fn intrinsic(data: &[u8]) -> u64 {
    21_000 + 4 * tokens(data)
}

fn with_margin(gas: u64) -> u64 {
    gas.saturating_add(gas / 5).saturating_add(20_000)
}

/// The cap if the transaction may have a gas limit of `most`, where `limit_of` a cap is it: a large write gives up as much
/// of its margin as it has to, and more. Whether it may, [`suffices`] says: a node's estimate may be a tenth too high.
/// `None` if no cap fits.
pub(super) fn fitted(cap: u64, most: u64, limit_of: impl Fn(u64) -> u64) -> Option<u64> {
    let mut fitted = cap;
    // The limit rises by 1.1 times what the cap does, so a step leaves a hundredth of what is too much.
    for _ in 0..3 {
        let excess = limit_of(fitted).saturating_sub(most);
        fitted = fitted.saturating_sub((excess - excess / 11).max(excess.min(1)));
    }
    (limit_of(fitted) <= most).then_some(fitted)
}

/// Whether an account's calls work with less gas than this now: a sixty-fourth is left for what the estimate leaves out.
/// One RPC call.
pub async fn suffices(node: &Node, account: Address, calls: &[Call], gas: u64) -> Result<bool, SimulationError> {
    let (request, _) = attempt(account, calls);
    let data = request.input.input().cloned().unwrap_or_default();
    let request = request.gas_limit(gas - gas / 64 + intrinsic(&data));
    match node.call(&request, &with_stand_in(account)).await.map_err(SimulationError::of) {
        Ok(_) => Ok(true),
        Err(SimulationError::Node(error)) if error.fault().is_temporary() => Err(error.into()),
        Err(_) => Ok(false),
    }
}

/// What the calls use now, as estimated.
pub(super) fn without_margin(cap: u64) -> u64 {
    let gas = cap.saturating_sub(20_000);
    gas - gas / 6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cap_of_a_sale_is_as_in_the_design() {
        assert_eq!(with_margin(60_000), 92_000);
        assert_eq!(with_margin(u64::MAX), u64::MAX);
        assert_eq!(intrinsic(&[0, 1, 2]), 21_036);
    }

    #[test]
    fn large_write_gives_up_its_margin_and_what_an_estimate_is_too_high_by() {
        let limit_of = |cap: u64| 100_000 + cap + cap / 10;
        let cap = with_margin(1_000_000);
        assert_eq!(fitted(cap, limit_of(cap), limit_of), Some(cap));
        let small = fitted(cap, limit_of(cap) - 100_000, limit_of);
        assert!(
            small.is_some_and(|cap| cap >= 1_000_000 && limit_of(cap) <= limit_of(with_margin(1_000_000)) - 100_000)
        );
        assert!(fitted(cap, limit_of(990_000), limit_of).is_some_and(|cap| cap <= 990_000));
        let estimated_a_tenth_too_high = with_margin(1_100_000);
        assert!(fitted(estimated_a_tenth_too_high, limit_of(1_010_000), limit_of).is_some_and(|cap| cap > 1_005_000));
        assert_eq!(fitted(cap, limit_of(0) - 1, limit_of), None);
    }
}
