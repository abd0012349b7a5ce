//! Why transactions failed, in words: nodes are asked beside the leader's turns, and may never say.

use std::{
    collections::{HashMap, HashSet},
    future::pending,
    sync::mpsc::{self, Receiver, Sender},
    time::Instant,
};

use alloy::primitives::{Address, B256};
use futures::{
    FutureExt, StreamExt,
    future::LocalBoxFuture,
    stream::{self, FuturesUnordered},
};
use shared::{
    chain::transaction::{Operation, failure, failures},
    store::artist::{Batch, Member, Slot},
    telemetry,
};

use crate::{
    chain::{ChainRelay, SIDE_BY_SIDE},
    error::RelayError,
};

/// What is said of a transaction that no node has words for.
pub(crate) const UNEXPLAINED: &str = "The call failed on the chain";

/// A batch and the hash of the block that has it.
pub(crate) type Place = (Slot, B256);

/// An operation that failed in a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed {
    pub(crate) member: Member,
    /// Its position among the batch's operations.
    pub(crate) index: usize,
    /// What gas its call used.
    pub(crate) gas: u64,
}

/// What to look for.
pub(crate) struct Question {
    pub(crate) operations: Vec<Operation>,
    /// The block's number.
    pub(crate) block: u64,
    /// Positions of all operations that failed, those included that need no words.
    pub(crate) failed: Vec<usize>,
    /// Those that others came before, which need none.
    pub(crate) overtaken: HashSet<usize>,
    /// Those that need some.
    pub(crate) unknown: Vec<Failed>,
}

/// The words of one of them.
pub(crate) struct Explained {
    pub(crate) place: Place,
    pub(crate) failed: Failed,
    pub(crate) reason: String,
}

/// What is looked for, and what was found.
pub(crate) struct Words<'a> {
    relay: &'a ChainRelay,
    searches: FuturesUnordered<LocalBoxFuture<'a, Place>>,
    batches: HashMap<Place, Found>,
    sender: Sender<Explained>,
    receiver: Receiver<Explained>,
}

struct Found {
    since: Instant,
    is_over: bool,
    /// Whether outcomes wait for them.
    is_awaited: bool,
    /// Positions of operations that others came before: a block's state never changes.
    overtaken: HashSet<usize>,
    /// By the operation's position.
    words: HashMap<usize, String>,
}

impl<'a> Words<'a> {
    pub(crate) fn new(relay: &'a ChainRelay) -> Self {
        let (sender, receiver) = mpsc::channel();
        Self { relay, searches: FuturesUnordered::new(), batches: HashMap::new(), sender, receiver }
    }

    /// The words of a batch's operations, by their positions; `None` as long as outcomes wait for some. Looks for them
    /// if nobody does.
    pub(crate) fn of(&mut self, place: Place, question: impl FnOnce() -> Question) -> Option<HashMap<usize, String>> {
        let (relay, searches, sender) = (self.relay, &self.searches, &self.sender);
        let found = self.batches.entry(place).or_insert_with(|| {
            let mut question = question();
            let overtaken = std::mem::take(&mut question.overtaken);
            searches.push(search(relay, place, question, sender.clone()).boxed_local());
            Found { since: Instant::now(), is_over: false, is_awaited: false, overtaken, words: HashMap::new() }
        });
        let is_enough = found.is_over || found.since.elapsed() >= relay.times.reason;
        found.is_awaited = !is_enough;
        is_enough.then(|| found.words.clone())
    }

    /// What is known of who came before a batch's operations, if its words are looked for.
    pub(crate) fn overtaken(&self, place: Place) -> Option<HashSet<usize>> {
        self.batches.get(&place).map(|found| found.overtaken.clone())
    }

    /// What was found since it was asked last.
    pub(crate) fn take(&mut self) -> Vec<Explained> {
        let news: Vec<_> = self.receiver.try_iter().collect();
        for Explained { place, failed, reason } in &news {
            if let Some(found) = self.batches.get_mut(place) {
                found.words.insert(failed.index, reason.clone());
            }
        }
        let kept = self.relay.times.reason_patience;
        self.batches.retain(|_, found| !found.is_over || found.since.elapsed() < kept);
        news
    }

    /// Goes on until one of the searches is over.
    pub(crate) async fn advance(&mut self) {
        match self.searches.next().await {
            Some(place) => {
                if let Some(found) = self.batches.get_mut(&place) {
                    found.is_over = true;
                }
            }
            None => pending().await,
        }
    }

    /// Whether nothing is looked for, and no outcomes wait.
    pub(crate) fn is_idle(&self) -> bool {
        self.searches.is_empty() && !self.batches.values().any(|found| found.is_awaited)
    }
}

/// Looks for words until there are all, or nodes have been asked for long enough. One call for all, up to three more
/// for each without words, side by side.
async fn search(relay: &ChainRelay, place: Place, question: Question, sender: Sender<Explained>) -> Place {
    let Question { operations, block, failed, mut unknown, .. } = question;
    let (slot, operations) = (place.0, &operations);
    let (safe, lane): (_, Address) = (relay.operator.safe, slot.lane.into());
    // Nobody may be there to hear it any more.
    let tell = |failed, reason| drop(sender.send(Explained { place, failed, reason }));
    let look = async {
        if unknown.len() > 1 {
            let mut known = failures(&relay.node, safe, lane, operations, &failed, block).await;
            unknown.retain(|one| match known.remove(&one.index) {
                Some(reason) => {
                    tell(*one, reason);
                    false
                }
                None => true,
            });
        }
        let find = |one: Failed| async move {
            loop {
                match failure(&relay.node, safe, lane, operations, one.index, (block, one.gas)).await {
                    Ok(reason) => return (one, reason),
                    Err(error) => {
                        let (chain, nonce) = (slot.chain, slot.nonce);
                        tracing::warn!(
                            chain.id = chain.0, lane = %slot.lane, nonce, error = telemetry::chain(&error),
                            "reason of a failed call of the batch with nonce {nonce} on chain {chain} not found yet"
                        );
                        tokio::time::sleep(relay.times.fresh / 4).await;
                    }
                }
            }
        };
        let mut words = stream::iter(unknown).map(find).buffer_unordered(SIDE_BY_SIDE);
        while let Some((one, reason)) = words.next().await {
            tell(one, reason);
        }
    };
    if tokio::time::timeout(relay.times.reason_patience, look).await.is_err() {
        let (chain, nonce) = (slot.chain, slot.nonce);
        tracing::warn!(
            chain.id = chain.0, lane = %slot.lane, nonce,
            "some reasons of failed calls of the batch with nonce {nonce} on chain {chain} not found"
        );
    }
    place
}

/// Whether nodes have been asked about a batch for long enough.
pub(crate) fn is_patience_over(relay: &ChainRelay, batch: &Batch) -> Result<bool, RelayError> {
    Ok(batch.created_at + relay.times.reason_patience.as_secs() < relay.now()?)
}
