//! Open batches: is one mined, must it be sent again, or with higher fees, or given up?

use std::time::{Duration, Instant};

use alloy::primitives::U256;
use futures::{StreamExt, TryStreamExt, stream};
use shared::{
    chain::node::{Receipt, Standing},
    model::{Fees, MarketFees},
    store::artist::{Batch, BatchStatus, Slot},
    telemetry::{self, Metric},
};

use crate::{
    batch::Tracked,
    chain::{ChainRelay, Leadership, SIDE_BY_SIDE},
    doubt::Doubts,
    error::{RelayError, ensure_leader, retry_if_node},
    lane::{Lane, report_foreign_use},
    market::Market,
    outcome::{Conclusion, conclude, mined_in, release},
    report::Report,
    signed::gas_limit,
    step::{Step, next_step},
    words::Words,
};

/// Closes the batches of lanes that are mined. Returns whether there were any. One node call each, one more for each
/// earlier version, and those of [`testimony`] for each that is in a block.
pub(crate) async fn close_mined(
    leadership: Leadership<'_>,
    lanes: &mut [Lane<'_>],
    words: &mut Words<'_>,
    report: &mut Report,
) -> Result<bool, RelayError> {
    let relay = leadership.relay;
    // A node that hangs costs its wait once, however many are open.
    let decided: Vec<_> = stream::iter(lanes.iter_mut().flat_map(|lane| lane.open.iter_mut()))
        .map(|tracked| decide(relay, tracked))
        .buffered(SIDE_BY_SIDE)
        .try_collect()
        .await?;
    let (mut decided, mut has_closed) = (decided.into_iter(), false);
    for lane in lanes {
        let receipts: Vec<_> = decided.by_ref().take(lane.open.len()).collect();
        has_closed |= close(leadership, lane, receipts, words, report).await?;
    }
    Ok(has_closed)
}

/// Closes those of a lane's open batches that have a receipt, once their outcomes are stored.
async fn close(
    leadership: Leadership<'_>,
    lane: &mut Lane<'_>,
    receipts: Vec<Option<Receipt>>,
    words: &mut Words<'_>,
    report: &mut Report,
) -> Result<bool, RelayError> {
    let (mut index, mut has_closed) = (0, false);
    for receipt in receipts {
        let concluded = match &receipt {
            Some(receipt) => conclude_open(leadership.relay, words, &mut lane.open[index], receipt).await?,
            None => None,
        };
        let Some((receipt, conclusion)) = receipt.zip(concluded) else {
            index += 1;
            continue;
        };
        report.ended += conclusion.ended;
        if conclusion.waits_for_words {
            index += 1;
            continue;
        }
        let tracked = lane.open.remove(index);
        lane.on_chain = lane.on_chain.max(tracked.nonce().saturating_add(1));
        lane.unfinalized.push(record(leadership, tracked.batch, &receipt, conclusion).await?);
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
    // Of the time before: nobody waits for all answers.
    let faults = tracked.refusals.faults();
    let sent = tracked.send(leadership.relay).await;
    if sent.is_ok() {
        tracked.suspect_since = None;
    }
    // Not before: most are in a block by now, and have the hash with their outcome.
    tracked.mark_sent(leadership.relay).await?;
    let fees = market.fees(leadership.relay).await?;
    let said = sent.map(|()| Doubts::of(&faults, lane));
    let (on_chain, can_sign) = (lane.on_chain, lane.signer.is_some());
    let can_raise = raised(leadership, lane, index, fees).is_some();
    match next_step(&mut lane.open[index], said, fees, on_chain, (can_sign, can_raise), &leadership.times) {
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

/// Higher fees for a batch, if the cap and the lane's balance allow them.
fn raised(leadership: Leadership<'_>, lane: &Lane<'_>, index: usize, market: MarketFees) -> Option<Fees> {
    let tracked = &lane.open[index];
    let newest = tracked.newest()?;
    let fees = newest.fees.bump(market, leadership.chain.spending.max_fee_per_gas)?;
    let added = u128::from(fees.max_fee_per_gas.saturating_sub(newest.fees.max_fee_per_gas));
    let cost = U256::from(u128::from(gas_limit(&tracked.batch)) * added);
    (lane.spendable() >= cost).then_some(fees)
}

/// Replaces a batch by itself with higher fees, if it can have them.
async fn bump_fees(
    leadership: Leadership<'_>,
    lane: &mut Lane<'_>,
    index: usize,
    market: MarketFees,
    report: &mut Report,
) -> Result<(), RelayError> {
    let Some(newest) = lane.open[index].newest() else { return Ok(()) };
    let Some(fees) = raised(leadership, lane, index, market) else { return Ok(()) };
    lane.replace(leadership, index, fees, newest.fills).await?;
    lane.open[index].raised_in = Some(market.block);
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
    let Tracked { batch, suspect_since, doubted_since, .. } = &mut lane.open[index];
    let since = suspect_since.as_mut().or(doubted_since.as_mut());
    let (slot, hashes) = (batch.slot, batch.hashes());
    if leadership.node.receipt(&hashes).await?.is_some() {
        return Ok(());
    }
    match leadership.user_of_nonce(slot).await {
        Ok(Some(hash)) if !hashes.contains(&hash) => {}
        // Nodes without the state of that block can't tell, however many: an operator must add one that has it.
        Err(error) if since.as_ref().is_some_and(|since| since.elapsed() >= leadership.times.proof_patience) => {
            let Slot { chain, lane, nonce } = slot;
            tracing::error!(
                chain.id = chain.0, %lane, nonce, error = telemetry::chain(&error),
                "transaction with nonce {nonce} of lane {lane} not found on chain {chain}"
            );
            report_foreign_use(slot);
            // Reported again after as long.
            if let Some(since) = since {
                *since = Instant::now();
            }
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

/// The receipt of an open batch that decides; `None` without one, or if the nodes failed.
async fn decide(relay: &ChainRelay, tracked: &mut Tracked) -> Result<Option<Receipt>, RelayError> {
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
        Ok(testimony(relay, tracked).await?.and_then(|(receipt, decides)| decides.then_some(receipt)))
    };
    decided.await.or_else(retry_if_node)
}

/// Stores the outcomes of an open batch's transactions, those aside that wait for words; `None` if the nodes failed.
async fn conclude_open(
    relay: &ChainRelay,
    words: &mut Words<'_>,
    tracked: &mut Tracked,
    receipt: &Receipt,
) -> Result<Option<Conclusion>, RelayError> {
    // Where blocks have to be followed by others, what failed is told by and by.
    let is_settled = relay.chain.confirmations == 0;
    let concluded = conclude(relay, words, &tracked.batch, receipt, is_settled).await.map(Some);
    let concluded = concluded.or_else(retry_if_node)?;
    if concluded.as_ref().is_some_and(|conclusion| conclusion.waits_for_words) {
        // They come between two turns.
        tracked.look_after = Instant::now();
    }
    Ok(concluded)
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
pub(crate) async fn record(
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
