//! Batches that were under way when rows were lost and restored, as `local/sam/restore` lists them. Their lanes know
//! nothing of them, and nobody knows what the relay did between the copy and the loss: a transaction ends only by what
//! a final block proves, and nothing is sent again. Whoever has a batch's bytes can send them until its nonce is used:
//! the relay uses it up once the transactions are late.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use alloy::eips::BlockNumberOrTag;
use shared::{
    chain::{
        node::{Nonce, Receipt, Standing},
        transaction::Execution,
    },
    model::{DAY, TransactionId, TransactionStatus},
    store::artist::{
        Attempt, Batch, BatchReference, BatchStatus, Ending, Member, MinedIn, RestoredBatch, Slot, Transaction,
    },
    telemetry,
};

use crate::{
    batch::own,
    chain::{ChainRelay, Leadership},
    error::{RelayError, retry_if_node},
    lane::Lane,
    market::Market,
    outcome::{Cost, Effects, done, undone},
    overtaken::overtaken,
    report::Report,
    signed::transaction,
    words::UNEXPLAINED,
};

/// Time between two looks at them.
const PAUSE: Duration = Duration::from_secs(60);

/// Most of them that a look is for.
const AT_ONCE: usize = 10;

/// Time after which a look takes up no further one: artists wait for the leader.
const LONGEST_LOOK: Duration = Duration::from_secs(5);

/// When a leader looked at them last.
#[derive(Default)]
pub(crate) struct Restored {
    looked_at: Option<Instant>,
}

/// The transaction that has used a batch's nonce, in a final block.
struct Used {
    receipt: Receipt,
    /// Whether it is the batch.
    is_batch: bool,
    /// Time of its block, in Unix seconds.
    time: u64,
}

impl Restored {
    /// Ends transactions of restored batches, once a minute at most. Others are sent even if that fails. What [`look`]
    /// takes.
    pub(crate) async fn end(
        &mut self,
        leadership: Leadership<'_>,
        lanes: &mut [Lane<'_>],
        market: &mut Market,
        report: &mut Report,
    ) -> Result<(), RelayError> {
        if self.looked_at.is_some_and(|at| at.elapsed() < PAUSE) {
            return Ok(());
        }
        self.looked_at = Some(Instant::now());
        match look(leadership, lanes, market, report).await.or_else(retry_if_node) {
            Err(error) if !matches!(error, RelayError::LeaseLost) => {
                let chain = leadership.chain.id;
                tracing::error!(
                    chain.id = chain.0,
                    error = telemetry::chain(&error),
                    "restored transactions of chain {chain} not looked for"
                );
                Ok(())
            }
            looked => looked,
        }
    }
}

/// One Query, and what [`end_one`] and [`use_up`] take for each batch until nodes fail.
async fn look(
    leadership: Leadership<'_>,
    lanes: &mut [Lane<'_>],
    market: &mut Market,
    report: &mut Report,
) -> Result<(), RelayError> {
    let (started, now) = (Instant::now(), leadership.now()?);
    let mut batches = leadership.transactions.restored(leadership.chain.id).await?;
    for restored in &batches {
        // Perhaps no node has the state of blocks as old as that: an operator is told once a day.
        let age = now.saturating_sub(restored.restored_at);
        if age >= DAY && age % DAY < PAUSE.as_secs() {
            report_open(leadership.relay, &restored.batch).await?;
        }
    }
    // Another one comes first each time: none that fails or waits is in the others' way.
    let first = usize::try_from(now / PAUSE.as_secs()).unwrap_or_default();
    let count = batches.len().max(1);
    batches.rotate_left(first % count);
    for restored in batches.iter().take(AT_ONCE).take_while(|_| started.elapsed() < LONGEST_LOOK) {
        match end_one(leadership, restored, report).await {
            Ok(false) => {}
            Ok(true) => use_up(leadership, lanes, market, restored.batch.slot, report).await?,
            // Its bytes are no batch of this operator Safe.
            Err(RelayError::Bytes(_)) => {
                report_open(leadership.relay, &restored.batch).await?;
                leadership.transactions.forget_restored(&restored.batch.slot).await?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Ends a batch's transactions by the final block that has its nonce, and forgets the batch; `true` if they are late,
/// and no block has the nonce. Two reads and the calls of [`user`], those of [`overtaken`] if some failed, and a write
/// for each transaction.
async fn end_one(
    leadership: Leadership<'_>,
    RestoredBatch { batch, restored_at }: &RestoredBatch,
    report: &mut Report,
) -> Result<bool, RelayError> {
    let Leadership { relay, lease } = leadership;
    let stored = relay.transactions.batch(&batch.slot).await?;
    let is_followed = |stored: &Batch| {
        let is_over = matches!(stored.status, BatchStatus::Final | BatchStatus::Displaced);
        stored.members == batch.members && !is_over
    };
    // The lane has it after all, and follows it to its end.
    if stored.as_ref().is_some_and(is_followed) {
        return Ok(false);
    }
    let (rows, now) = (open_rows(relay, batch).await?, relay.now()?);
    if rows.is_empty() {
        relay.transactions.forget_restored(&batch.slot).await?;
        return Ok(false);
    }
    let Some(used) = user(relay, batch).await? else {
        let is_late = |row: &Transaction| row.valid_until.unwrap_or(restored_at + DAY) <= now;
        return Ok(stored.is_none() && rows.values().all(is_late) && is_unused(relay, batch).await?);
    };
    // Until the rows were lost, their transactions were in this batch alone then, and nobody has sent them since.
    let is_younger = used.time > *restored_at;
    let endings = if used.is_batch {
        endings(relay, batch, (&used.receipt, is_younger), &rows).await?
    } else {
        let reason = "Another transaction came in the place of its batch: try again";
        // Before the loss they were put back into the queue, and may have been sent again.
        rows.keys().filter(|_| is_younger).map(|id| (*id, undone(batch, reason))).collect()
    };
    let mut is_whole = true;
    for row in rows.values() {
        match endings.get(&row.id) {
            Some(ending) => {
                let has_ended = relay.transactions.give_up(lease, row, ending, now).await?;
                report.ended += usize::from(has_ended);
                is_whole &= has_ended;
            }
            None => report_unknown(row),
        }
    }
    // One that couldn't be ended has changed meanwhile, or another process leads.
    if is_whole {
        relay.transactions.forget_restored(&batch.slot).await?;
    }
    Ok(false)
}

/// Fills a nonce if it is the next one of a lane that has nothing else to use it for. What [`Lane::fill_gap`] takes,
/// and a call for the fees.
async fn use_up(
    leadership: Leadership<'_>,
    lanes: &mut [Lane<'_>],
    market: &mut Market,
    Slot { lane: address, nonce, .. }: Slot,
    report: &mut Report,
) -> Result<(), RelayError> {
    for lane in lanes {
        if lane.address == address && lane.next_nonce == nonce && lane.open.is_empty() && lane.is_free() {
            let fees = market.fees(leadership.relay).await?;
            lane.fill_gap(leadership, nonce, fees).await?;
            report.signatures += 1;
        }
    }
    Ok(())
}

/// A batch's transactions that aren't over. One read per 100.
async fn open_rows(relay: &ChainRelay, batch: &Batch) -> Result<HashMap<TransactionId, Transaction>, RelayError> {
    let (rows, reference) = (relay.members(batch).await?.into_iter(), BatchReference::from(batch.slot));
    let rows = rows.filter(|row| row.batch == Some(reference) && row.status == TransactionStatus::Sent);
    Ok(rows.map(|row| (row.id, row)).collect())
}

/// The transaction that has used a batch's nonce for good; `None` without one. The calls of [`Node::receipt`] and of
/// [`Node::user_of_nonce`], and three others.
///
/// [`Node::receipt`]: shared::chain::node::Node::receipt
/// [`Node::user_of_nonce`]: shared::chain::node::Node::user_of_nonce
async fn user(relay: &ChainRelay, batch: &Batch) -> Result<Option<Used>, RelayError> {
    let (node, depth) = (&relay.node, relay.chain.reorg_depth);
    let hashes: Vec<_> = batch.attempts.iter().rev().map(|attempt| attempt.hash).collect();
    let mut found = node.receipt(&hashes).await?;
    if found.is_none() && !is_unused(relay, batch).await? {
        // A version with other fees, which the copy lacks, or something else.
        let Slot { chain, lane, nonce } = batch.slot;
        let nonce = Nonce { chain, sender: lane.into(), number: nonce };
        if let Some(hash) = node.user_of_nonce(nonce, depth).await? {
            found = node.receipt(&[hash]).await?;
        }
    }
    let Some((receipt, Standing::Held)) = found else { return Ok(None) };
    if receipt.block.saturating_add(depth) > node.newest_block().await? {
        return Ok(None);
    }
    let Some((input, time)) = node.input(&receipt).await? else { return Ok(None) };
    let is_batch = input == transaction(batch)?.input;
    Ok(Some(Used { receipt, is_batch, time }))
}

/// Whether no block has a batch's nonce, says a node. One call.
async fn is_unused(relay: &ChainRelay, batch: &Batch) -> Result<bool, RelayError> {
    Ok(relay.node.next_nonce(batch.slot.lane.into(), BlockNumberOrTag::Latest).await? <= batch.slot.nonce)
}

/// How transactions ended by the block that has their batch, given whether it is younger than the restored rows. Those
/// are left out of which nobody knows whether they were sent again.
async fn endings(
    relay: &ChainRelay,
    batch: &Batch,
    (receipt, is_younger): (&Receipt, bool),
    rows: &HashMap<TransactionId, Transaction>,
) -> Result<HashMap<TransactionId, Ending>, RelayError> {
    // So that the block's own state says who came first: it may have been put right since.
    let mut batch = Batch { created_at: relay.now()?, ..batch.clone() };
    let is_known = batch.hashes().contains(&receipt.hash);
    if !is_known && let Some(last) = batch.attempts.last().copied() {
        batch.attempts.push(Attempt { hash: receipt.hash, fills: false, ..last });
    }
    let batch = &batch;
    let Effects { operations, executions, shares } = Effects::of(relay, batch, receipt)?;
    // Known before anybody is told of them.
    relay.provenance.note(&relay.chain, &receipt.logs).await?;
    let overtaken = if is_younger {
        HashSet::new()
    } else {
        overtaken(relay, (batch, receipt), &operations, &executions, rows).await?
    };
    let ending = |((member, index), (mined, cost)): ((&Member, usize), (MinedIn, Cost))| {
        let row = rows.get(&member.transaction_id)?;
        let ending = match &executions[index] {
            Execution::Executed { succeeded: true, logs, .. } => done(relay, batch, row.creation, mined, logs),
            Execution::Executed { succeeded: false, .. } if !overtaken.contains(&index) => {
                let pending = batch.pending.iter().find(|pending| pending.transaction_id == row.id);
                let reason = pending.map_or(UNEXPLAINED, |pending| pending.reason.as_str());
                Ending { mined: Some(mined), ..undone(batch, reason) }
            }
            // The account wasn't there, or all reverted: nobody pays for that.
            Execution::Absent if is_younger => {
                return Some((row.id, undone(batch, "The transaction failed on the chain: try again")));
            }
            _ => return None,
        };
        let ending = Ending { batch: Some(batch.slot.into()), wei: cost.within(row.charge.wei), ..ending };
        Some((row.id, ending))
    };
    Ok(batch.members.iter().zip(own(batch)).zip(shares).filter_map(ending).collect())
}

/// Reports all of a batch's transactions that aren't over. One read per 100.
async fn report_open(relay: &ChainRelay, batch: &Batch) -> Result<(), RelayError> {
    open_rows(relay, batch).await?.values().for_each(report_unknown);
    Ok(())
}

fn report_unknown(row: &Transaction) {
    let (artist, id, chain) = (row.artist_id, row.id, row.chain);
    tracing::error!(
        chain.id = chain.0, artist.id = %artist, transaction.id = %id,
        "restored transaction {id} of chain {chain} stays sent: no block is known that says whether it was done"
    );
}
