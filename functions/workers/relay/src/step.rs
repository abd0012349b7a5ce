//! Decisions about open batches.

use shared::{chain::node::NodeFault, model::MarketFees};

use crate::{
    batch::{Rejection, Tracked},
    chain::Times,
    doubt::Doubts,
};

/// Blocks that may pass over a lane's lowest nonce, although its fees cover the base fee, until it gets higher ones: pools
/// may keep it for too cheap, or have forgotten to offer it.
const MAX_BLOCKS: u64 = 10;

/// How often a batch of several transactions gets higher fees before it is taken for too large: sequencers pass over what
/// has many bytes while their batcher lags. The same of one that nodes refuse for good, whose fees may be the cause.
const MAX_RAISES: usize = 2;

/// What to do about a batch that isn't mined.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Wait,
    BackOff,
    BumpFees,
    ReplaceWithNoop,
    FindForeignTransaction,
}

/// Decides about a batch that was just sent again, given what nodes said of it, the lane's next nonce on the chain, and
/// whether another version can be signed and get higher fees. Notes since when it is suspect, doubted or the lowest.
pub(crate) fn next_step(
    tracked: &mut Tracked,
    said: Result<Doubts, Rejection>,
    market: MarketFees,
    on_chain: u64,
    (can_sign, can_raise): (bool, bool),
    times: &Times,
) -> Step {
    let Some(newest) = tracked.newest() else { return Step::Wait };
    let was_replaced_lately = tracked.replaced_at.is_some_and(|at| at.elapsed() < times.rebroadcast);
    let Rejection { fault, may_have_left } = match said {
        Err(rejection) => rejection,
        Ok(doubts) => {
            let can_replace = can_sign && !was_replaced_lately;
            return step_of_accepted(tracked, doubts, market, on_chain, (can_replace, can_raise), times);
        }
    };
    match fault {
        NodeFault::NonceTooLow if tracked.suspected_for() >= times.nonce_grace => Step::FindForeignTransaction,
        _ if !can_sign => Step::Wait,
        // A node that is silent may have it.
        NodeFault::Refused | NodeFault::Unwilling
            if !newest.fills && tracked.suspected_for() >= times.grace * (1 + 3 * u32::from(may_have_left)) =>
        {
            Step::ReplaceWithNoop
        }
        _ if was_replaced_lately => Step::Wait,
        NodeFault::FeeTooLow | NodeFault::ReplacementUnderpriced => Step::BumpFees,
        // Higher fees would take the lane only further from being able to pay.
        NodeFault::InsufficientFunds => Step::BackOff,
        _ => Step::Wait,
    }
}

/// The same of one that a node has accepted.
fn step_of_accepted(
    tracked: &mut Tracked,
    doubts: Doubts,
    market: MarketFees,
    on_chain: u64,
    (can_replace, can_raise): (bool, bool),
    times: &Times,
) -> Step {
    let Some(newest) = tracked.newest() else { return Step::Wait };
    let is_used = doubts.is_used && tracked.nonce() < on_chain;
    if !is_used && !doubts.is_refused {
        tracked.doubted_since = None;
    }
    if is_used && tracked.doubted_for() >= times.nonce_grace {
        return Step::FindForeignTransaction;
    }
    // It may be in a block yet, whatever others say.
    let is_refused = doubts.is_refused && !newest.fills;
    let is_refused_for_long = is_refused && tracked.doubted_for() >= times.grace * 4;
    if !can_replace {
        return Step::Wait;
    }
    // Blocks that can't have it don't pass over it.
    if doubts.is_poor {
        tracked.lowest_since = None;
        return Step::BackOff;
    }
    if !market.admits(newest.fees) {
        tracked.lowest_since = None;
        return Step::BumpFees;
    }
    let is_lowest = tracked.nonce() == on_chain;
    let is_passed_over =
        is_lowest && tracked.lowest_since.get_or_insert(market.block).saturating_add(MAX_BLOCKS) <= market.block;
    let is_raised = tracked.batch.attempts.len() > MAX_RAISES;
    if !is_passed_over {
        // One that lies raises no fees but those that the market exceeds. A pool that asks for more passes over it.
        let is_dear = market.exceeds(newest.fees) && tracked.raised_in < Some(market.block);
        let is_underpriced = doubts.is_underpriced && is_dear && !is_raised;
        return if is_underpriced { Step::BumpFees } else { Step::Wait };
    }
    let is_too_large = is_raised && tracked.batch.members.len() > 1;
    let is_hopeless = is_refused && (is_raised || !can_raise);
    match (is_too_large, is_hopeless) {
        (true, _) => Step::ReplaceWithNoop,
        (false, true) if is_refused_for_long => Step::ReplaceWithNoop,
        (false, true) => Step::Wait,
        (false, false) => Step::BumpFees,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use alloy::primitives::B256;
    use shared::{
        model::Fees,
        store::artist::{Attempt, Batch},
    };

    use super::*;
    use crate::batch::tests::open_batch;

    /// No doubt lasts too short.
    const HASTY: Times =
        Times { rebroadcast: Duration::ZERO, grace: Duration::ZERO, nonce_grace: Duration::ZERO, ..LONG };
    /// No doubt lasts long enough.
    const LONG: Times = {
        let hour = Duration::from_secs(3_600);
        Times {
            lease: hour,
            fresh: hour,
            rebroadcast: hour,
            grace: hour,
            nonce_grace: hour,
            quiet: hour,
            affinity: hour,
            facts: hour,
            proof_patience: hour,
            reason: hour,
            reason_patience: hour,
        }
    };
    const BLOCK: u64 = 100;
    const CAP: u64 = 2_000;
    const SILENCE: Doubts = Doubts { is_used: false, is_underpriced: false, is_refused: false, is_poor: false };

    /// A batch with nonce 7 that a node has accepted.
    fn accepted() -> Tracked {
        let fees = Fees { max_fee_per_gas: 1_000, max_priority_fee_per_gas: 10 };
        let attempts = vec![Attempt { hash: B256::ZERO, fees, signed_at: 0, fills: false }];
        Tracked::new(Batch { attempts, ..open_batch(7) })
    }

    /// What is done where others have said so, with this next nonce on the chain, so many blocks later.
    fn step(tracked: &mut Tracked, doubts: Doubts, on_chain: u64, later: u64, times: &Times) -> Step {
        step_at(tracked, doubts, on_chain, MarketFees { block: BLOCK + later, base: 1, tip: 1 }, times)
    }

    fn step_at(tracked: &mut Tracked, doubts: Doubts, on_chain: u64, market: MarketFees, times: &Times) -> Step {
        let can_raise = tracked.newest().is_some_and(|newest| newest.fees.max_fee_per_gas < CAP);
        next_step(tracked, Ok(doubts), market, on_chain, (true, can_raise), times)
    }

    /// Gives it higher fees, in a later block than the first.
    fn raise(tracked: &mut Tracked, max_fee_per_gas: u64) {
        let newest = tracked.newest().unwrap();
        let fees = Fees { max_fee_per_gas, ..newest.fees };
        tracked.batch.attempts.push(Attempt { fees, ..newest });
        (tracked.raised_in, tracked.lowest_since) = (Some(BLOCK), None);
    }

    #[test]
    fn used_nonce_counts_only_once_the_chain_is_past_it() {
        let (mut tracked, doubts) = (accepted(), Doubts { is_used: true, ..SILENCE });
        assert_eq!(step(&mut tracked, doubts, 7, 0, &HASTY), Step::Wait);
        assert_eq!(step(&mut tracked, doubts, 8, 0, &LONG), Step::Wait);
        assert_eq!(step(&mut tracked, doubts, 8, 0, &HASTY), Step::FindForeignTransaction);
    }

    #[test]
    fn underpriced_batch_is_raised_where_the_market_exceeds_it_once_a_block_and_twice_in_all() {
        let (mut tracked, doubts) = (accepted(), Doubts { is_underpriced: true, ..SILENCE });
        let dear = |later| MarketFees { block: BLOCK + later, base: 900, tip: 1 };
        assert_eq!(step(&mut tracked, doubts, 7, 0, &HASTY), Step::Wait);
        assert_eq!(step_at(&mut tracked, doubts, 7, dear(0), &HASTY), Step::BumpFees);
        raise(&mut tracked, 1_200);
        assert_eq!(step_at(&mut tracked, doubts, 7, dear(0), &HASTY), Step::Wait);
        assert_eq!(step_at(&mut tracked, doubts, 7, dear(1), &HASTY), Step::BumpFees);
        raise(&mut tracked, 1_400);
        assert_eq!(step_at(&mut tracked, doubts, 7, dear(1), &HASTY), Step::Wait);
    }

    #[test]
    fn poor_lane_raises_no_fees() {
        let mut tracked = accepted();
        step(&mut tracked, SILENCE, 7, 0, &HASTY);
        assert_eq!(step(&mut tracked, SILENCE, 7, MAX_BLOCKS, &HASTY), Step::BumpFees);
        let doubts = Doubts { is_poor: true, ..SILENCE };
        assert_eq!(step(&mut tracked, doubts, 7, MAX_BLOCKS, &HASTY), Step::BackOff);
    }

    #[test]
    fn refused_batch_is_replaced_only_after_raises_blocks_and_time() {
        let (mut tracked, doubts) = (accepted(), Doubts { is_refused: true, ..SILENCE });
        for fees in [1_200, 1_400] {
            assert_eq!(step(&mut tracked, doubts, 7, 0, &HASTY), Step::Wait);
            assert_eq!(step(&mut tracked, doubts, 7, MAX_BLOCKS, &HASTY), Step::BumpFees);
            raise(&mut tracked, fees);
        }
        assert_eq!(step(&mut tracked, doubts, 7, 0, &HASTY), Step::Wait);
        assert_eq!(step(&mut tracked, doubts, 7, MAX_BLOCKS, &LONG), Step::Wait);
        assert_eq!(step(&mut tracked, doubts, 7, MAX_BLOCKS, &HASTY), Step::ReplaceWithNoop);
    }

    #[test]
    fn blocks_that_are_too_dear_pass_over_no_refused_batch() {
        let (mut tracked, doubts) = (accepted(), Doubts { is_refused: true, ..SILENCE });
        // It can't be raised.
        raise(&mut tracked, CAP);
        assert_eq!(step(&mut tracked, doubts, 7, 0, &HASTY), Step::Wait);
        let dear = MarketFees { block: BLOCK + 1, base: CAP + 1, tip: 1 };
        assert_eq!(step_at(&mut tracked, doubts, 7, dear, &HASTY), Step::BumpFees);
        assert_eq!(step(&mut tracked, doubts, 7, MAX_BLOCKS, &HASTY), Step::Wait);
        assert_eq!(step(&mut tracked, doubts, 7, 2 * MAX_BLOCKS, &HASTY), Step::ReplaceWithNoop);
    }
}
