//! Metrics for the alarms: each lane's balance, the age of its oldest open batch, and how far its nonce is from the
//! chain's; the age of the queue's oldest transaction.

use std::time::Duration;

use alloy::primitives::U256;
use shared::{
    clock,
    model::ChainId,
    store::artist::Transactions,
    telemetry::{self, Metric},
};

use crate::lane::Lane;

const WEI_A_GWEI: u64 = 1_000_000_000;

/// Records the metrics of a chain. One read.
pub(crate) async fn measure(chain: ChainId, lanes: &[Lane<'_>], transactions: &Transactions) {
    let Ok(now) = clock::now() else { return };
    for lane in lanes {
        if let Some(values) = values(lane, now) {
            telemetry::record(&[("Chain", &chain.to_string()), ("Lane", &lane.address.to_string())], &values);
        }
    }
    match transactions.queued(chain, 1).await {
        Ok(queued) => {
            let turn = queued.first().and_then(|queued| queued.place.split('#').next()?.parse::<u128>().ok());
            let age = turn.map_or(0, |turn| now.as_millis().saturating_sub(turn) / 1_000);
            let age = age.try_into().unwrap_or(i64::MAX);
            telemetry::record(&[("Chain", &chain.to_string())], &[(Metric::QueueAge, age)]);
        }
        Err(error) => {
            tracing::warn!(chain.id = chain.0, error = telemetry::chain(&error), "queue of chain {chain} not measured");
        }
    }
}

/// What a lane shows now; `None` of one that is over, whose state isn't read: nobody waits for it.
fn values(lane: &Lane<'_>, now: Duration) -> Option<[(Metric, i64); 3]> {
    if lane.is_over() {
        return None;
    }
    let balance = (lane.balance / U256::from(WEI_A_GWEI)).try_into().unwrap_or(i64::MAX);
    let oldest = lane.open.first().map_or(0, |tracked| now.as_secs().saturating_sub(tracked.batch.created_at));
    Some([
        (Metric::LaneBalance, balance),
        (Metric::OldestOpenSlot, oldest.try_into().unwrap_or(i64::MAX)),
        (Metric::NonceDrift, drift(lane)),
    ])
}

/// Nonces by which the chain is ahead of the lane's next one (above 0) or behind those known to be used (below 0); at
/// least 1 where no next one is known.
fn drift(lane: &Lane<'_>) -> i64 {
    let used = lane.open.first().map_or(lane.next_nonce, |tracked| tracked.nonce());
    let distance = |from: u64| i64::try_from(lane.on_chain.abs_diff(from)).unwrap_or(i64::MAX);
    if lane.on_chain > lane.next_nonce {
        distance(lane.next_nonce)
    } else if lane.on_chain < used {
        -distance(used)
    } else {
        i64::from(!lane.knows_nonce)
    }
}

#[cfg(test)]
mod tests {
    use shared::model::Address;

    use super::*;
    use crate::batch::tests::open_batch;

    #[test]
    fn lane_that_left_the_configuration_is_measured_until_its_batches_are_final() {
        let mut lane = Lane::new(Address::ZERO, None);
        lane.track(open_batch(7));
        assert!(values(&lane, Duration::ZERO).is_some());
        lane.unfinalized = std::mem::take(&mut lane.open);
        assert!(values(&lane, Duration::ZERO).is_some());
        lane.unfinalized.clear();
        assert_eq!(values(&lane, Duration::ZERO), None);
    }

    #[test]
    fn lane_whose_nonce_is_unknown_drifts_whatever_a_node_says() {
        let mut lane = Lane::new(Address::ZERO, None);
        for (on_chain, expected) in [(0, 1), (7, 7)] {
            lane.on_chain = on_chain;
            assert_eq!(drift(&lane), expected);
        }
        (lane.next_nonce, lane.knows_nonce) = (7, true);
        assert_eq!(drift(&lane), 0);
    }
}
