use std::time::{Duration, Instant};

use alloy::primitives::B256;
use futures::{StreamExt, TryStreamExt, stream};
use shared::{
    chain::node::{NodeFault, Receipt, Standing},
    store::artist::{Attempt, Batch, Slot, Transaction},
    telemetry,
};

use crate::{
    chain::{ChainRelay, Times},
    error::RelayError,
};

/// Rows that are marked as sent side by side.
const SIDE_BY_SIDE: usize = 16;

/// A batch, and what this process has seen of it.
pub(crate) struct Tracked {
    pub(crate) batch: Batch,
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
    /// The newest block when its newest version was first found to be the next that the chain can take.
    pub(crate) lowest_since: Option<u64>,
    /// When this process replaced it last.
    pub(crate) replaced_at: Option<Instant>,
    /// Whether its block was still the chain's after enough others.
    pub(crate) is_confirmed: bool,
    /// Whether its transactions are marked as sent with its newest version.
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
            sent_at: None,
            look_after: Instant::now(),
            suspect_since: None,
            missing_since: None,
            shown_in: None,
            is_accepted: false,
            lowest_since: None,
            replaced_at: None,
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
        let sent = relay.node.send(self.batch.newest()).await;
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
    /// hash with its outcome.
    pub(crate) async fn mark_sent(&mut self, relay: &ChainRelay) -> Result<(), RelayError> {
        if !self.is_marked {
            let rows = relay.members(&self.batch).await?;
            mark(relay, &self.batch, rows.iter().filter(|row| !row.status.is_final())).await?;
            self.is_marked = true;
        }
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

/// Marks the transactions of a new batch as sent, before its bytes are stored. `false` if one of them is over by now:
/// then the batch must not be sent. One read per 100 transactions, one write each.
pub(crate) async fn claim(relay: &ChainRelay, batch: &Batch) -> Result<bool, RelayError> {
    let rows = relay.members(batch).await?;
    let is_whole = rows.len() == batch.members.len() && rows.iter().all(|row| !row.status.is_final());
    Ok(is_whole && mark(relay, batch, rows.iter()).await?)
}

/// Marks transactions as sent with their batch's newest version. `false` if one of them is over.
async fn mark(relay: &ChainRelay, batch: &Batch, rows: impl Iterator<Item = &Transaction>) -> Result<bool, RelayError> {
    let Some(Attempt { hash, .. }) = batch.attempts.last().copied() else { return Ok(false) };
    let (now, reference) = (relay.now()?, batch.slot.into());
    let marks = stream::iter(rows.filter(|row| row.hashes.last() != Some(&hash)))
        .map(|row| relay.transactions.mark_sent(row, reference, hash, now))
        .buffer_unordered(SIDE_BY_SIDE);
    Ok(marks.try_fold(true, |all, marked| async move { Ok(all && marked) }).await?)
}
