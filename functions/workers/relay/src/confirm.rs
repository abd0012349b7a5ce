//! Batches in blocks that aren't final: is the block still the chain's?

use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt, stream};
use shared::{
    chain::node::{Receipt, Standing},
    store::artist::BatchStatus,
};

use crate::{
    batch::Tracked,
    chain::{ChainRelay, Leadership, SIDE_BY_SIDE},
    error::{RelayError, ensure_leader, retry_if_node},
    lane::Lane,
    outcome::{Conclusion, conclude, settle},
    report::Report,
    watch::{record, testimony},
    words::Words,
};

/// State of an unfinalized batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    /// Its block is too deep to be dropped.
    is_final: bool,
    /// Its block has enough confirmations for the first time.
    is_due: bool,
    /// The lane's nonce on the chain has been too low for it for long enough.
    is_lost: bool,
}

/// Where a batch's receipt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inclusion {
    SameBlock,
    OtherBlock,
    /// Not found lately: nodes that lack it at the same moment.
    Unseen,
    Nowhere,
}

/// What to do about an unfinalized batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Wait,
    Confirm,
    Finish,
    /// Its transactions may have gone another way in the other block.
    Conclude,
    Reopen,
}

impl State {
    fn of(tracked: &mut Tracked, on_chain: u64, head: u64, relay: &ChainRelay) -> Self {
        let chain = &relay.chain;
        let block = tracked.batch.mined.map_or(0, |mined| mined.block);
        let is_lost = if is_dropped(tracked, on_chain) {
            tracked.suspected_for() >= relay.times.grace
        } else {
            tracked.suspect_since = None;
            false
        };
        Self {
            is_final: block.saturating_add(chain.reorg_depth) <= head,
            is_due: !tracked.is_confirmed && block.saturating_add(chain.confirmations) <= head,
            is_lost,
        }
    }

    fn needs_block(self) -> bool {
        self.is_final || self.is_due || self.is_lost
    }
}

/// Decides about a batch whose block was looked for.
fn next_step(State { is_final, is_due, is_lost }: State, inclusion: Inclusion) -> Step {
    match inclusion {
        Inclusion::SameBlock if is_final && !is_lost => Step::Finish,
        Inclusion::SameBlock if is_due && !is_lost => Step::Confirm,
        Inclusion::SameBlock => Step::Wait,
        Inclusion::OtherBlock => Step::Conclude,
        Inclusion::Unseen | Inclusion::Nowhere if is_lost => Step::Reopen,
        Inclusion::Nowhere if is_final => Step::Reopen,
        Inclusion::Unseen | Inclusion::Nowhere => Step::Wait,
    }
}

/// Looks after a lane's unfinalized batches, given the newest block. The calls of [`Node::standing`] for each that is due, and
/// those of [`testimony`] if its block isn't the chain's for certain.
///
/// [`Node::standing`]: shared::chain::node::Node::standing
pub(crate) async fn confirm(
    leadership: Leadership<'_>,
    lane: &mut Lane<'_>,
    head: u64,
    words: &mut Words<'_>,
    report: &mut Report,
) -> Result<(), RelayError> {
    let (relay, on_chain) = (leadership.relay, lane.on_chain);
    for tracked in &mut lane.unfinalized {
        if is_dropped(tracked, on_chain) {
            // A node that lags looks the same, and takes what it is sent. What it answers changes nothing.
            let _ = tracked.send(relay).await;
        }
    }
    // A node that hangs costs its wait once, however many are due.
    let found: Vec<_> = stream::iter(lane.unfinalized.iter_mut())
        .map(|tracked| look_for(relay, tracked, on_chain, head))
        .buffered(SIDE_BY_SIDE)
        .try_collect()
        .await?;
    let mut index = 0;
    for (step, receipt) in found {
        let tracked = &mut lane.unfinalized[index];
        if matches!(step, Step::Confirm | Step::Finish) {
            settle_failures(leadership, tracked, report).await?;
        }
        let batch = &tracked.batch;
        match (step, receipt) {
            (Step::Confirm, _) => tracked.is_confirmed = true,
            (Step::Conclude, Some(receipt)) => {
                let is_settled = receipt.block.saturating_add(leadership.chain.confirmations) <= head;
                let concluded = conclude(relay, words, batch, &receipt, is_settled).await.map(Some);
                if let Some(conclusion) = concluded.or_else(retry_if_node)? {
                    report.ended += conclusion.ended;
                    if !conclusion.waits_for_words {
                        *tracked = record(leadership, batch.clone(), &receipt, conclusion).await?;
                    }
                }
            }
            (Step::Finish, _) => {
                let finished = leadership.transactions.finish_batch(leadership.lease, batch, leadership.now()?);
                ensure_leader(finished.await?)?;
                lane.unfinalized.remove(index);
                continue;
            }
            (Step::Reopen, _) => {
                reopen(leadership, lane, index).await?;
                continue;
            }
            (Step::Wait | Step::Conclude, _) => {}
        }
        index += 1;
    }
    Ok(())
}

/// What to do about a batch, with the receipt that was found if its block isn't the chain's for certain.
async fn look_for(
    relay: &ChainRelay,
    tracked: &mut Tracked,
    on_chain: u64,
    head: u64,
) -> Result<(Step, Option<Receipt>), RelayError> {
    let state = State::of(tracked, on_chain, head, relay);
    if !state.needs_block() {
        return Ok((Step::Wait, None));
    }
    if is_held(relay, tracked).await {
        tracked.missing_since = None;
        return Ok((next_step(state, Inclusion::SameBlock), None));
    }
    match testimony(relay, tracked).await {
        // No other node has that block, or one has another.
        Ok(Some((_, false))) => {
            tracked.missing_since = None;
            Ok((Step::Wait, None))
        }
        Ok(found) => {
            let receipt = found.map(|(receipt, _)| receipt);
            Ok((next_step(state, inclusion(tracked, receipt.as_ref(), relay.times.grace)), receipt))
        }
        // Nodes that fail or contradict each other keep only this batch waiting.
        Err(error) => retry_if_node(error).map(|()| (Step::Wait, None)),
    }
}

/// Stores and tells which transactions of a batch failed, now that its block is settled.
async fn settle_failures(
    leadership: Leadership<'_>,
    tracked: &mut Tracked,
    report: &mut Report,
) -> Result<(), RelayError> {
    if tracked.batch.pending.is_empty() {
        return Ok(());
    }
    let Conclusion { events, ended, .. } = settle(leadership, &tracked.batch).await?;
    report.ended += ended;
    let events = (&*events, leadership.now()?);
    ensure_leader(leadership.transactions.settle_batch(leadership.lease, &tracked.batch, events).await?)?;
    tracked.batch.pending.clear();
    Ok(())
}

/// Opens a batch again whose block the chain has dropped.
async fn reopen(leadership: Leadership<'_>, lane: &mut Lane<'_>, index: usize) -> Result<(), RelayError> {
    let batch = &lane.unfinalized[index].batch;
    let (chain, address, nonce) = (batch.slot.chain, batch.slot.lane, batch.slot.nonce);
    tracing::warn!(
        chain.id = chain.0, lane = %address, nonce,
        "batch with nonce {nonce} of lane {address} reopened: chain {chain} dropped its block"
    );
    ensure_leader(leadership.transactions.reopen_batch(leadership.lease, batch).await?)?;
    let mut batch = lane.unfinalized.remove(index).batch;
    (batch.status, batch.mined, batch.pending) = (BatchStatus::Open, None, Vec::new());
    lane.track(batch);
    Ok(())
}

/// Whether the block that has it is the chain's, by as many nodes as it takes.
async fn is_held(relay: &ChainRelay, tracked: &Tracked) -> bool {
    match tracked.batch.mined {
        Some(mined) => relay.node.standing(mined.block, mined.block_hash).await == Standing::Held,
        None => false,
    }
}

fn is_dropped(tracked: &Tracked, on_chain: u64) -> bool {
    on_chain <= tracked.nonce()
}

fn inclusion(tracked: &mut Tracked, receipt: Option<&Receipt>, grace: Duration) -> Inclusion {
    let Some(receipt) = receipt else {
        let is_long = tracked.missing_since.get_or_insert_with(Instant::now).elapsed() >= grace;
        return if is_long { Inclusion::Nowhere } else { Inclusion::Unseen };
    };
    tracked.missing_since = None;
    let is_same = Some(receipt.block_hash) == tracked.batch.mined.map(|mined| mined.block_hash);
    if is_same { Inclusion::SameBlock } else { Inclusion::OtherBlock }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINED: State = State { is_final: false, is_due: false, is_lost: false };

    #[test]
    fn batch_of_the_same_block_is_confirmed_once_and_finished_when_final() {
        let due = State { is_due: true, ..MINED };
        let finality = State { is_final: true, ..MINED };
        assert_eq!(next_step(due, Inclusion::SameBlock), Step::Confirm);
        assert_eq!(next_step(finality, Inclusion::SameBlock), Step::Finish);
        assert_eq!(next_step(State { is_due: true, ..finality }, Inclusion::SameBlock), Step::Finish);
    }

    #[test]
    fn final_batch_whose_nonce_looks_unused_is_not_finished() {
        let contradiction = State { is_final: true, is_lost: true, is_due: false };
        assert_eq!(next_step(contradiction, Inclusion::SameBlock), Step::Wait);
        assert_eq!(next_step(contradiction, Inclusion::Nowhere), Step::Reopen);
    }

    #[test]
    fn batch_without_a_receipt_is_reopened_only_when_lost_or_final() {
        assert_eq!(next_step(State { is_due: true, ..MINED }, Inclusion::Nowhere), Step::Wait);
        assert_eq!(next_step(State { is_lost: true, ..MINED }, Inclusion::Nowhere), Step::Reopen);
        assert_eq!(next_step(State { is_final: true, ..MINED }, Inclusion::Nowhere), Step::Reopen);
    }

    #[test]
    fn final_batch_that_no_node_has_lately_waits() {
        let finality = State { is_final: true, ..MINED };
        assert_eq!(next_step(finality, Inclusion::Unseen), Step::Wait);
        assert_eq!(next_step(State { is_lost: true, ..finality }, Inclusion::Unseen), Step::Reopen);
    }

    #[test]
    fn batch_of_another_block_is_concluded_again() {
        for state in [State { is_due: true, ..MINED }, State { is_lost: true, ..MINED }] {
            assert_eq!(next_step(state, Inclusion::OtherBlock), Step::Conclude);
        }
    }
}
