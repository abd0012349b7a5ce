//! Open batches: is one mined, must it be sent again, or with higher fees, or given up?

use std::time::{Duration, Instant};

use alloy::primitives::U256;
use shared::{
    chain::node::{NodeFault, Receipt, Standing},
    model::MarketFees,
    store::artist::{Batch, BatchStatus, Slot},
    telemetry::{self, Metric},
};

use crate::{
    batch::{Rejection, Tracked},
    chain::{ChainRelay, Leadership, Times},
    error::{RelayError, ensure_leader, retry_if_node},
    lane::{Lane, report_foreign_use},
    market::Market,
    outcome::{Conclusion, conclude, mined_in, release},
    report::Report,
    signed::gas_limit,
    words::Words,
};

/// Blocks that may pass over a lane's lowest nonce, although its fees cover the base fee, until it gets higher ones: pools
/// may keep it for too cheap, or have forgotten to offer it.
const MAX_BLOCKS: u64 = 10;

/// How often a batch of several transactions gets higher fees, before it is taken for too large: sequencers pass over what
/// has many bytes while their batcher lags.
const MAX_RAISES: usize = 2;

/// What to do about a batch that isn't mined.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Wait,
    BackOff,
    BumpFees,
    ReplaceWithNoop,
    FindForeignTransaction,
}

/// Closes the batches of a lane that are mined. Returns whether there were any. One node call each, one more for each
/// earlier version, and those of [`testimony`] for each that is in a block.
pub(crate) async fn close_mined(
    leadership: Leadership<'_>,
    lane: &mut Lane<'_>,
    words: &mut Words<'_>,
    report: &mut Report,
) -> Result<bool, RelayError> {
    let (mut index, mut has_closed) = (0, false);
    while index < lane.open.len() {
        let Some((receipt, conclusion)) = decide(leadership.relay, words, &mut lane.open[index]).await? else {
            index += 1;
            continue;
        };
        report.ended += conclusion.ended;
        if conclusion.waits_for_words {
            index += 1;
            continue;
        }
        let tracked = lane.open.remove(index);
        lane.on_chain = lane.on_chain.max(tracked.nonce() + 1);
        lane.unfinalized.push(close(leadership, tracked.batch, &receipt, conclusion).await?);
        lane.reset_backoff();
        has_closed = true;
    }
    Ok(has_closed)
}

/// Sends a lane's batches that aren't mined again, as they are or with higher fees, and gives up those that can't be
/// mined.
pub(crate) async fn rebroadcast(
    leadership: Leadership<'_>,
    lane: &mut Lane<'_>,
    market: &mut Market,
    report: &mut Report,
) -> Result<(), RelayError> {
    let can_fill = lane.signer.is_some() && !lane.is_backing_off();
    if let Some(nonce) = lane.gap().filter(|_| can_fill) {
        let slot = Slot { chain: leadership.chain.id, lane: lane.address, nonce };
        // A node that lags names a nonce that is used already.
        if leadership.transactions.batch(&slot).await?.is_none() {
            let fees = market.fees(leadership.relay).await?;
            lane.fill_gap(leadership, nonce, fees).await?;
            report.signatures += 1;
        }
    }
    for index in 0..lane.open.len() {
        rebroadcast_one(leadership, lane, index, market, report).await?;
    }
    lane.open.retain(|tracked| tracked.batch.status == BatchStatus::Open);
    Ok(())
}

async fn rebroadcast_one(
    leadership: Leadership<'_>,
    lane: &mut Lane<'_>,
    index: usize,
    market: &mut Market,
    report: &mut Report,
) -> Result<(), RelayError> {
    let tracked = &mut lane.open[index];
    let pause = leadership.times.rebroadcast;
    let is_due = !tracked.is_accepted || tracked.sent_at.is_none_or(|at| at.elapsed() >= pause);
    let too_soon = tracked.sent_at.is_some_and(|at| at.elapsed() < pause / 6);
    if !is_due || too_soon {
        return Ok(());
    }
    let rejection = tracked.send(leadership.relay).await.err();
    if rejection.is_none() {
        tracked.suspect_since = None;
    }
    // Not before: most are in a block by now, and have the hash with their outcome.
    tracked.mark_sent(leadership.relay).await?;
    let fees = market.fees(leadership.relay).await?;
    let (on_chain, can_sign) = (lane.on_chain, lane.signer.is_some());
    match next_step(tracked, rejection, fees, on_chain, can_sign, &leadership.times) {
        Step::Wait => Ok(()),
        Step::BackOff => {
            lane.back_off();
            Ok(())
        }
        Step::BumpFees => bump_fees(leadership, lane, index, fees, report).await,
        Step::ReplaceWithNoop => replace_with_noop(leadership, lane, index, fees, report).await,
        Step::FindForeignTransaction => find_foreign_transaction(leadership, lane, index, report).await,
    }
}

/// Decides about a batch that was just sent again, given the lane's next nonce on the chain. Notes since when it is
/// suspect, or the lowest.
fn next_step(
    tracked: &mut Tracked,
    rejection: Option<Rejection>,
    market: MarketFees,
    on_chain: u64,
    can_sign: bool,
    times: &Times,
) -> Step {
    let Some(newest) = tracked.newest() else { return Step::Wait };
    let was_replaced_lately = tracked.replaced_at.is_some_and(|at| at.elapsed() < times.rebroadcast);
    let Some(Rejection { fault, may_have_left }) = rejection else {
        let is_lowest = tracked.nonce() == on_chain;
        if !can_sign || was_replaced_lately {
            return Step::Wait;
        }
        if !market.admits(newest.fees) {
            return Step::BumpFees;
        }
        let is_passed_over =
            is_lowest && tracked.lowest_since.get_or_insert(market.block).saturating_add(MAX_BLOCKS) <= market.block;
        let is_too_large = tracked.batch.attempts.len() > MAX_RAISES && tracked.batch.members.len() > 1;
        return match (is_passed_over, is_too_large) {
            (false, _) => Step::Wait,
            (true, false) => Step::BumpFees,
            (true, true) => Step::ReplaceWithNoop,
        };
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

/// Replaces a batch by itself with higher fees, if the cap and the lane's balance allow it.
async fn bump_fees(
    leadership: Leadership<'_>,
    lane: &mut Lane<'_>,
    index: usize,
    market: MarketFees,
    report: &mut Report,
) -> Result<(), RelayError> {
    let tracked = &lane.open[index];
    let Some(newest) = tracked.newest() else { return Ok(()) };
    let Some(fees) = newest.fees.bump(market, leadership.chain.spending.max_fee_per_gas) else { return Ok(()) };
    let added = u128::from(fees.max_fee_per_gas.saturating_sub(newest.fees.max_fee_per_gas));
    if lane.spendable() < U256::from(u128::from(gas_limit(&tracked.batch)) * added) {
        return Ok(());
    }
    lane.replace(leadership, index, fees, newest.fills).await?;
    telemetry::record(&[("Chain", &leadership.chain.id.to_string())], &[(Metric::Bumps, 1)]);
    report.bumped += 1;
    report.signatures += 1;
    Ok(())
}

/// Replaces a batch that nodes refuse by a no-op, so that the nonce is used and the lane goes on.
async fn replace_with_noop(
    leadership: Leadership<'_>,
    lane: &mut Lane<'_>,
    index: usize,
    market: MarketFees,
    report: &mut Report,
) -> Result<(), RelayError> {
    let Some(newest) = lane.open[index].newest() else { return Ok(()) };
    let fees = newest.fees.bump(market, leadership.chain.spending.max_fee_per_gas).unwrap_or(newest.fees);
    lane.replace(leadership, index, fees, true).await?;
    report.signatures += 1;
    Ok(())
}

/// Releases a batch's transactions if a block shows that the lane's key has used its nonce for something else.
async fn find_foreign_transaction(
    leadership: Leadership<'_>,
    lane: &mut Lane<'_>,
    index: usize,
    report: &mut Report,
) -> Result<(), RelayError> {
    let Tracked { batch, suspect_since, .. } = &mut lane.open[index];
    let (slot, hashes) = (batch.slot, batch.hashes());
    if leadership.node.receipt(&hashes).await?.is_some() {
        return Ok(());
    }
    match leadership.user_of_nonce(slot).await {
        Ok(Some(hash)) if !hashes.contains(&hash) => {}
        // Nodes without the state of that block can't tell, however many: an operator must add one that has it.
        Err(error) if suspect_since.is_some_and(|since| since.elapsed() >= leadership.times.proof_patience) => {
            let Slot { chain, lane, nonce } = slot;
            tracing::error!(
                chain.id = chain.0, %lane, nonce, error = telemetry::chain(&error),
                "transaction with nonce {nonce} of lane {lane} not found on chain {chain}"
            );
            report_foreign_use(slot);
            // Reported again after as long.
            *suspect_since = Some(Instant::now());
            return Ok(());
        }
        _ => return Ok(()),
    }
    report_foreign_use(slot);
    let Conclusion { events, ended, .. } = release(leadership.relay, batch).await?;
    report.ended += ended;
    let events = (&*events, leadership.now()?);
    let closed = leadership.transactions.close_batch(leadership.lease, batch, BatchStatus::Displaced, None, events);
    ensure_leader(closed.await?)?;
    batch.status = BatchStatus::Displaced;
    Ok(())
}

/// The receipt of an open batch, after its transactions' outcomes are stored, those aside that wait for words; `None`
/// without one that decides, or if the nodes failed.
async fn decide(
    relay: &ChainRelay,
    words: &mut Words<'_>,
    tracked: &mut Tracked,
) -> Result<Option<(Receipt, Conclusion)>, RelayError> {
    let since = tracked.look_after.elapsed();
    if tracked.look_after > Instant::now() {
        return Ok(None);
    }
    let decided = async {
        // The healthiest node is asked each time, and may lack it for a reason of its own.
        let is_known = is_known(relay, &tracked.batch).await?;
        if since < relay.times.fresh && !is_known {
            return Ok(None);
        }
        let pause = if is_known { relay.times.fresh / 4 } else { Duration::ZERO };
        tracked.look_after = Instant::now() + pause;
        let Some((receipt, true)) = testimony(relay, tracked).await? else { return Ok(None) };
        // Where blocks have to be followed by others, what failed is told by and by.
        let is_settled = relay.chain.confirmations == 0;
        let conclusion = conclude(relay, words, &tracked.batch, &receipt, is_settled).await?;
        if conclusion.waits_for_words {
            // They come between two turns.
            tracked.look_after = Instant::now();
        }
        Ok(Some((receipt, conclusion)))
    };
    decided.await.or_else(retry_if_node)
}

/// Whether the healthiest node has a receipt of one of a batch's versions.
async fn is_known(relay: &ChainRelay, batch: &Batch) -> Result<bool, RelayError> {
    for attempt in batch.attempts.iter().rev() {
        if relay.node.has_receipt(attempt.hash).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The receipt of one of a batch's versions that nodes have, newest first, and whether it decides.
pub(crate) async fn testimony(
    relay: &ChainRelay,
    tracked: &mut Tracked,
) -> Result<Option<(Receipt, bool)>, RelayError> {
    let hashes: Vec<_> = tracked.batch.attempts.iter().rev().map(|attempt| attempt.hash).collect();
    let Some((receipt, standing)) = relay.node.receipt(&hashes).await? else {
        tracked.shown_in = None;
        return Ok(None);
    };
    if standing == Standing::Contradicted {
        let Slot { chain, lane, nonce } = tracked.batch.slot;
        tracing::warn!(
            chain.id = chain.0, %lane, nonce, block = receipt.block,
            "batch with nonce {nonce} of lane {lane} waits: nodes of chain {chain} have different blocks"
        );
    }
    let decides = tracked.is_decided_by(&receipt, standing, &relay.times);
    Ok(Some((receipt, decides)))
}

/// Records the block that has a batch, with what became of its transactions there.
pub(crate) async fn close(
    leadership: Leadership<'_>,
    mut batch: Batch,
    receipt: &Receipt,
    conclusion: Conclusion,
) -> Result<Tracked, RelayError> {
    let Conclusion { events, pending, .. } = conclusion;
    let (mined, events) = (mined_in(receipt, receipt.gas_used), (&*events, leadership.now()?));
    batch.pending = pending;
    let status = batch.status_by(receipt.hash);
    let closed = leadership.transactions.close_batch(leadership.lease, &batch, status, Some(mined), events);
    ensure_leader(closed.await?)?;
    (batch.status, batch.mined) = (status, Some(mined));
    Ok(Tracked::new(batch))
}
