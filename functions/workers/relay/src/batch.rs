use std::time::{Duration, Instant};

use alloy::primitives::{B256, U256};
use futures::{StreamExt, TryStreamExt, stream};
use shared::{
    chain::node::{NodeFault, Receipt, Refusals, Standing},
    store::{
        StoreError,
        artist::{Attempt, Batch, BatchReference, Member, Slot, Transaction},
    },
    telemetry,
};

use crate::{
    chain::{ChainRelay, SIDE_BY_SIDE, Times},
    error::RelayError,
};

/// A batch, and what this process has seen of it.
pub(crate) struct Tracked {
    pub(crate) batch: Batch,
    /// Wei that the chain takes for its data at most, beside the gas; known once the lane's balance is read.
    pub(crate) data_fee: U256,
    /// When its bytes were last sent by this process.
    pub(crate) sent_at: Option<Instant>,
    /// Before when nobody looks for its receipt: a node has one that doesn't decide yet. Afterwards it is looked for where
    /// the healthiest node has one, and now and then at all of them.
    pub(crate) look_after: Instant,
    /// Since when nodes refuse it, or its nonce looks used by another program.
    pub(crate) suspect_since: Option<Instant>,
    /// Since when no node has a receipt of it, after it was in a block.
    pub(crate) missing_since: Option<Instant>,
    /// The block that one node alone shows it in.
    pub(crate) shown_in: Option<Shown>,
    /// Whether a node is known to have its newest version.
    pub(crate) is_accepted: bool,
    /// What nodes have against that version.
    pub(crate) refusals: Refusals,
    /// Since when nodes doubt it that another one accepted.
    pub(crate) doubted_since: Option<Instant>,
    /// The newest block when its newest version was first found to be the next that the chain can take.
    pub(crate) lowest_since: Option<u64>,
    /// When this process replaced it last.
    pub(crate) replaced_at: Option<Instant>,
    /// The newest block when its fees were raised last.
    pub(crate) raised_in: Option<u64>,
    /// Whether its block was still the chain's after enough others.
    pub(crate) is_confirmed: bool,
    /// Whether its transactions have the hash of its newest version.
    pub(crate) is_marked: bool,
}

/// A block that one node shows, what the newest blocks of the others are, and since when that hasn't changed.
pub(crate) struct Shown {
    block: B256,
    heads: Vec<Option<u64>>,
    since: Instant,
}

/// Why no node accepted a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) fault: NodeFault,
    /// Whether a node may have accepted it all the same.
    pub(crate) may_have_left: bool,
}

impl Tracked {
    pub(crate) fn new(batch: Batch) -> Self {
        Self {
            batch,
            data_fee: U256::ZERO,
            sent_at: None,
            look_after: Instant::now(),
            suspect_since: None,
            missing_since: None,
            shown_in: None,
            is_accepted: false,
            refusals: Refusals::default(),
            doubted_since: None,
            lowest_since: None,
            replaced_at: None,
            raised_in: None,
            is_confirmed: false,
            is_marked: false,
        }
    }

    pub(crate) fn nonce(&self) -> u64 {
        self.batch.slot.nonce
    }

    pub(crate) fn newest(&self) -> Option<Attempt> {
        self.batch.attempts.last().copied()
    }

    /// How long nodes have refused it, from now on if they didn't before.
    pub(crate) fn suspected_for(&mut self) -> Duration {
        self.suspect_since.get_or_insert_with(Instant::now).elapsed()
    }

    /// How long nodes have doubted it, from now on if they didn't before.
    pub(crate) fn doubted_for(&mut self) -> Duration {
        self.doubted_since.get_or_insert_with(Instant::now).elapsed()
    }

    /// Whether a receipt decides: another node has its block, too, or the others have said nothing new for so long that
    /// they can't be expected to have it.
    pub(crate) fn is_decided_by(&mut self, receipt: &Receipt, standing: Standing, times: &Times) -> bool {
        let Standing::Unseen(heads) = standing else {
            self.shown_in = None;
            return standing == Standing::Held;
        };
        // One that answers has the block as soon as its chain is as long.
        let patience = if heads.iter().any(Option::is_some) { times.grace.max(times.quiet) } else { times.grace };
        let known = self.shown_in.take().filter(|shown| shown.block == receipt.block_hash && shown.heads == heads);
        let since = known.map_or_else(Instant::now, |shown| shown.since);
        self.shown_in = Some(Shown { block: receipt.block_hash, heads, since });
        since.elapsed() >= patience
    }

    /// Sends its newest version.
    pub(crate) async fn send(&mut self, relay: &ChainRelay) -> Result<(), Rejection> {
        self.sent_at = Some(Instant::now());
        let sent = relay.node.send(self.batch.newest(), &self.refusals).await;
        self.is_accepted = sent.is_ok();
        sent.map_err(|error| {
            let Slot { chain, lane, nonce } = self.batch.slot;
            let hash = self.newest().map(|attempt| attempt.hash).unwrap_or_default();
            let (fault, may_have_left) = (error.fault, error.may_have_left);
            tracing::warn!(
                chain.id = chain.0, %lane, nonce, tx.hash = %hash, error = telemetry::chain(&error), ?fault,
                "transaction {hash} not accepted by any node of chain {chain}"
            );
            Rejection { fault, may_have_left }
        })
    }

    /// Stores the newest hash in the batch's transactions, unless that was done. A row that can't be marked gets the
    /// hash with its outcome. One read per 100 transactions, one write each.
    pub(crate) async fn mark_sent(&mut self, relay: &ChainRelay) -> Result<(), RelayError> {
        let Some(Attempt { hash, .. }) = self.newest().filter(|_| !self.is_marked) else { return Ok(()) };
        let (rows, now, reference) = (relay.members(&self.batch).await?, relay.now()?, self.batch.slot.into());
        let unmarked = rows.iter().filter(|row| !row.status.is_final() && !row.hashes.contains(&hash));
        let marks = unmarked.map(|row| relay.transactions.mark_sent(row, reference, hash, now));
        let _: Vec<bool> = stream::iter(marks).buffer_unordered(SIDE_BY_SIDE).try_collect().await?;
        self.is_marked = true;
        Ok(())
    }
}

/// Positions of the members' own operations, among those that deploy accounts.
pub(crate) fn own(batch: &Batch) -> impl Iterator<Item = usize> + '_ {
    batch.members.iter().scan(0, |next, member| {
        let own = *next + usize::from(member.deploys);
        *next = own + 1;
        Some(own)
    })
}

/// Claims transactions for a batch that isn't signed yet. Returns the rows of those that it got, as they were before;
/// others are over by now. One read per 100 transactions, one write each.
pub(crate) async fn claim(
    relay: &ChainRelay,
    members: &[Member],
    batch: BatchReference,
) -> Result<Vec<Transaction>, RelayError> {
    let ids: Vec<_> = members.iter().map(|member| (member.artist_id, member.transaction_id)).collect();
    let (rows, now) = (relay.transactions.get_many(&ids).await?, relay.now()?);
    let claims = rows.into_iter().map(|row| async move {
        let is_claimed = !row.status.is_final() && relay.transactions.claim(&row, batch, now).await?;
        Ok::<_, StoreError>(is_claimed.then_some(row))
    });
    let claimed: Vec<_> = stream::iter(claims).buffer_unordered(SIDE_BY_SIDE).try_collect().await?;
    Ok(claimed.into_iter().flatten().collect())
}

#[cfg(test)]
pub(crate) mod tests {
    use shared::{
        model::{Address, ChainId},
        store::artist::BatchStatus,
    };

    use super::*;

    /// An open batch without transactions.
    pub(crate) fn open_batch(nonce: u64) -> Batch {
        Batch {
            slot: Slot { chain: ChainId(1), lane: Address::ZERO, nonce },
            members: Vec::new(),
            status: BatchStatus::Open,
            attempts: Vec::new(),
            signed: Vec::new(),
            filler: Vec::new(),
            mined: None,
            pending: Vec::new(),
            created_at: 0,
        }
    }
}
