//! Which lane may take which transactions. The chain may drop blocks and take other lanes' batches first, or let a
//! batch succeed that failed before: so artists stay with the lane whose nonces keep their order, and a transaction
//! that failed in a block waits until the block stays.

use std::{
    collections::{HashMap, HashSet},
    hash::Hash,
};

use shared::{
    model::{ArtistId, ConcurrencyKey, TransactionId},
    store::artist::{BatchStatus, Queued},
};

use crate::{
    chain::ChainRelay,
    lane::{Lane, in_flight},
    suspicion::Suspicions,
};

#[derive(Default)]
pub(crate) struct Assignment {
    /// Lanes by the artists of their newest batches that aren't final, with their blocks.
    artists: HashMap<ArtistId, (u64, usize)>,
    /// The same by what their transactions read or change.
    keys: HashMap<ConcurrencyKey, (u64, usize)>,
    /// Transactions in blocks that may be dropped: the queue has the ones that failed there.
    unsettled: HashSet<TransactionId>,
    /// Those of them whose failure waits for its block, where a lane's nonces keep the order of what follows.
    failing: HashSet<TransactionId>,
    /// Transactions that aren't tried now.
    held: HashSet<TransactionId>,
    /// Transactions that are over.
    skipped: HashSet<TransactionId>,
    /// The newest block, if one is waited for.
    head: u64,
}

impl Assignment {
    pub(crate) fn of(lanes: &[Lane<'_>], relay: &ChainRelay) -> Self {
        let mut assignment = Self::default();
        for (index, lane) in lanes.iter().enumerate() {
            let holds_affinity = lane.holds_affinity(relay.times.affinity);
            for tracked in &lane.unfinalized {
                // Another block may have what a no-op took the place of.
                let holds_affinity = holds_affinity && tracked.batch.status == BatchStatus::Mined;
                let block = tracked.batch.mined.map_or(0, |mined| mined.block);
                let is_settled = relay.chain.confirmations == 0 || tracked.is_confirmed;
                let failing = tracked.batch.pending.iter().map(|pending| pending.transaction_id);
                assignment.unsettled.extend(failing.clone());
                assignment.failing.extend(failing.filter(|_| holds_affinity));
                for member in &tracked.batch.members {
                    if holds_affinity {
                        bind(&mut assignment.artists, member.artist_id, (block, index));
                        let key = member.concurrency_key.into_iter();
                        key.for_each(|key| bind(&mut assignment.keys, key, (block, index)));
                    }
                    if !is_settled {
                        assignment.unsettled.insert(member.transaction_id);
                    }
                }
            }
        }
        assignment
    }

    /// Leaves out transactions that are over.
    pub(crate) fn skip(&mut self, transactions: &[TransactionId]) {
        self.skipped.extend(transactions);
    }

    /// Keeps back the transactions that were tried just now.
    pub(crate) fn hold(&mut self, suspicions: &Suspicions) {
        self.held.extend(suspicions.recent());
    }

    /// Notes the newest block.
    pub(crate) fn reach(&mut self, head: u64) {
        self.head = head;
    }

    /// Whether a transaction is in a block that may be dropped.
    pub(crate) fn is_unsettled(&self, id: TransactionId) -> bool {
        self.unsettled.contains(&id)
    }

    /// The transactions that a lane may take, in the queue's order. A transaction that can't go now keeps back its
    /// artist's later ones, and those with the same key if that keeps its order, or if it waits for a block.
    pub(crate) fn waiting<'q>(&self, lanes: &[Lane<'_>], lane: usize, queue: &'q [Queued]) -> Vec<&'q Queued> {
        let (under_way, mut kept) = in_flight(lanes);
        let under_way = &under_way;
        let is_early = |queued: &&Queued| queued.not_before.is_some_and(|block| self.head < block);
        let mut kept_keys: HashSet<_> =
            queue.iter().filter(is_early).filter_map(|early| early.concurrency_key).collect();
        let may_go = |queued: &&Queued| {
            let Queued { artist_id, transaction_id, concurrency_key, .. } = queued;
            let is_out = [under_way, &self.skipped, &self.failing].iter().any(|ids| ids.contains(transaction_id));
            if is_out {
                return false;
            }
            let ordered = concurrency_key.filter(|key| key.keeps_order());
            if kept.contains(artist_id) || concurrency_key.is_some_and(|key| kept_keys.contains(&key)) {
                kept.insert(*artist_id);
                kept_keys.extend(ordered);
                return false;
            }
            let own = || self.artists.get(artist_id);
            let bond = own().or_else(|| self.keys.get(concurrency_key.as_ref()?));
            let is_held = self.unsettled.contains(transaction_id) || self.held.contains(transaction_id);
            if is_early(queued) || is_held || bond.is_some_and(|(_, bound)| *bound != lane) {
                kept.insert(*artist_id);
                kept_keys.extend(ordered);
                return false;
            }
            true
        };
        queue.iter().filter(may_go).collect()
    }
}

fn bind<K: Eq + Hash>(bonds: &mut HashMap<K, (u64, usize)>, key: K, bond: (u64, usize)) {
    let known = bonds.entry(key).or_insert(bond);
    *known = bond.max(*known);
}
