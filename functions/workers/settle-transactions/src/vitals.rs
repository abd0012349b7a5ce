//! Metrics of lanes for the alarms: gas balance, age of the oldest open transaction, difference of nonces between the
//! chain and storage.

use alloy::{eips::BlockNumberOrTag, primitives::U256};
use shared::{
    chain::transaction::TransactionSender,
    model::Address,
    store::{LaneState, Slot},
    telemetry::{self, Metric},
};

use crate::SettleError;

const WEI_A_GWEI: u64 = 1_000_000_000;

/// Records the metrics of a lane. Two node calls and at most two reads.
pub(crate) async fn measure(sender: &TransactionSender, lane: Address, now: u64) -> Result<(), SettleError> {
    let (chain, node, transactions) = (sender.chain().id, sender.node(), sender.transactions());
    let balance = node.balance(lane.into()).await? / U256::from(WEI_A_GWEI);
    // The chain is read first, so that a write in between isn't taken for a foreign nonce.
    let on_chain = node.next_nonce(lane.into(), BlockNumberOrTag::Latest).await?;
    let state = transactions.lane(chain, lane).await?;
    let oldest = match state.as_ref().and_then(|state| state.open.first()) {
        Some(&nonce) => transactions.get(&Slot { chain, lane, nonce }).await?,
        None => None,
    };
    let age = oldest.map_or(0, |transaction| now.saturating_sub(transaction.claimed_at));
    telemetry::record(
        &[("Chain", &chain.to_string()), ("Lane", &lane.to_string())],
        &[
            (Metric::LaneBalance, balance.try_into().unwrap_or(i64::MAX)),
            (Metric::OldestOpenSlot, age.try_into().unwrap_or(i64::MAX)),
            (Metric::NonceDrift, state.map_or(0, |state| drift(&state, on_chain))),
        ],
    );
    Ok(())
}

/// Nonces by which the chain is ahead of those given out (above 0) or behind those known to be mined (below 0).
fn drift(state: &LaneState, on_chain: u64) -> i64 {
    let used_up_to = state.open.first().copied().unwrap_or(state.next_nonce);
    let distance = |from: u64| i64::try_from(on_chain.abs_diff(from)).unwrap_or(i64::MAX);
    if on_chain > state.next_nonce {
        distance(state.next_nonce)
    } else if on_chain < used_up_to {
        -distance(used_up_to)
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_is_the_distance_from_the_expected_nonces() {
        let state =
            |open: &[u64]| LaneState { next_nonce: 10, open: open.iter().copied().collect(), ..LaneState::default() };
        assert_eq!(drift(&state(&[]), 10), 0);
        assert_eq!(drift(&state(&[]), 12), 2);
        assert_eq!(drift(&state(&[]), 7), -3);
        for on_chain in 8..=10 {
            assert_eq!(drift(&state(&[8, 9]), on_chain), 0, "open transactions may be mined already");
        }
        assert_eq!(drift(&state(&[8, 9]), 5), -3);
    }
}
