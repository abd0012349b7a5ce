//! Which lane may take which transactions. The chain may drop blocks and take other lanes' batches first, or let a batch
//! succeed that failed before: so artists stay with the lane whose nonces keep their order, and a transaction that failed
//! in a block waits until the block stays.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use shared::{
    model::{ArtistId, ConcurrencyKey, TransactionId},
    store::artist::{BatchStatus, Queued},
};

use crate::{
    ChainRelay,
    fleet::{Lane, busy},
};

/// Pause between two tries of a transaction that nodes would let revert.
const DOUBT_PAUSE: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(crate) struct Order {
    /// Lanes by the artists of their newest batches that aren't final, with their blocks.
    artists: HashMap<ArtistId, (u64, usize)>,
    /// The same by what their transactions read or change.
    keys: HashMap<ConcurrencyKey, (u64, usize)>,
    /// Those of blocks that may be dropped: the queue has the ones that failed there.
    unsettled: HashSet<TransactionId>,
    /// Those that aren't to be tried now.
    held: HashSet<TransactionId>,
    skipped: HashSet<TransactionId>,
}

impl Order {
    pub(crate) fn of(lanes: &[Lane<'_>], relay: &ChainRelay) -> Self {
        let mut order = Self::default();
        let young = |(index, lane): (usize, &_)| {
            let lane: &Lane<'_> = lane;
            let keeps = lane.keeps_artists(relay.loyalty);
            lane.young.iter().filter(|tracked| tracked.batch.status == BatchStatus::Mined).for_each(|tracked| {
                let block = tracked.batch.mined.map_or(0, |mined| mined.block);
                for member in &tracked.batch.members {
                    if keeps {
                        bind(&mut order.artists, member.artist_id, (block, index));
                        member.concurrency_key.iter().for_each(|key| bind(&mut order.keys, *key, (block, index)));
                    }
                    if relay.chain.confirmations > 0 && !tracked.is_confirmed {
                        order.unsettled.insert(member.transaction_id);
                    }
                }
            });
        };
        lanes.iter().enumerate().for_each(young);
        order
    }

    /// Leaves out transactions that are over.
    pub(crate) fn skip(&mut self, transactions: &[TransactionId]) {
        self.skipped.extend(transactions);
    }

    /// Keeps those back that were tried just now, given when each was doubted first and tried last.
    pub(crate) fn hold(&mut self, doubts: &HashMap<TransactionId, (Instant, Instant)>) {
        let recent = doubts.iter().filter(|(_, (_, tried))| tried.elapsed() < DOUBT_PAUSE);
        self.held.extend(recent.map(|(id, _)| *id));
    }

    /// What a lane may take, in the queue's order. A transaction that can't go now keeps back its artist's later ones, and
    /// those with the same key if that keeps its order.
    pub(crate) fn waiting<'q>(&self, lanes: &[Lane<'_>], lane: usize, queue: &'q [Queued]) -> Vec<&'q Queued> {
        let (under_way, mut kept) = busy(lanes);
        let mut kept_keys = HashSet::new();
        let may_go = |queued: &&Queued| {
            let Queued { artist_id, transaction_id, concurrency_key, .. } = queued;
            if under_way.contains(transaction_id) || self.skipped.contains(transaction_id) {
                return false;
            }
            let ordered = concurrency_key.filter(|key| key.keeps_order());
            if kept.contains(artist_id) || ordered.is_some_and(|key| kept_keys.contains(&key)) {
                kept.insert(*artist_id);
                kept_keys.extend(ordered);
                return false;
            }
            let own = || self.artists.get(artist_id);
            let bond = own().or_else(|| self.keys.get(concurrency_key.as_ref()?));
            let is_held = self.unsettled.contains(transaction_id) || self.held.contains(transaction_id);
            if is_held || bond.is_some_and(|(_, bound)| *bound != lane) {
                kept.insert(*artist_id);
                kept_keys.extend(ordered);
                return false;
            }
            true
        };
        queue.iter().filter(may_go).collect()
    }
}

fn bind<K: Eq + std::hash::Hash>(bonds: &mut HashMap<K, (u64, usize)>, key: K, bond: (u64, usize)) {
    let known = bonds.entry(key).or_insert(bond);
    *known = bond.max(*known);
}
