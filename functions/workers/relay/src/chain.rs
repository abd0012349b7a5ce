use std::{ops::Deref, time::Duration};

use alloy::primitives::{Address, B256};
use shared::{
    chain::{
        Chain,
        contracts::safe::Safe,
        node::{Node, NodeError, Nonce},
        protocol::provenance::Provenance,
        transaction::Policy,
        wallet::{LaneSigners, OperatorAccount},
    },
    clock, model,
    store::{
        artist::{Artists, Batch, Lease, PayoutAddresses, Slot, Transaction, Transactions},
        engine::LEASE_TIMEOUT,
    },
};

use crate::error::RelayError;

/// Longest wait for an answer of one node.
pub(crate) const NODE_TIMEOUT: Duration = Duration::from_secs(5);

/// Reads, writes and calls that are made side by side.
pub(crate) const SIDE_BY_SIDE: usize = 16;

/// See [`ChainRelay::window`].
pub(crate) const WINDOW: usize = 4_000;

/// How long the relay waits, and for what. By the clock of the process alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Silence of the process that leads after which another one takes over: 4 s.
    pub lease: Duration,
    /// How long fees, balances and nonces are used before they are read again: 2 s.
    pub fresh: Duration,
    /// Pause between two broadcasts of the same bytes, in case nodes have lost them: 3 s.
    pub rebroadcast: Duration,
    /// How long nodes must refuse a batch, lack it after they had it, report that a transaction reverts, or one of them
    /// alone show a block, before they are believed: 6 s. One that lags may be wrong.
    pub grace: Duration,
    /// How long nodes must report a batch's nonce as used before the transaction that used it is looked for: 2 s. A block
    /// decides that, so it may be short.
    pub nonce_grace: Duration,
    /// Longer than a chain's blocks are apart: 13 s.
    pub quiet: Duration,
    /// How long artists wait for their lane when it can't go on, before other lanes serve them: 15 s.
    pub affinity: Duration,
    /// How long nodes may fail to show who used a batch's nonce, before an operator is told: 60 s.
    pub proof_patience: Duration,
    /// How long a turn waits for what nodes say of transactions to be sent; the rest of it is taken up later: 1 s.
    pub facts: Duration,
    /// How long the outcomes of transactions that failed wait for the reasons; later ones are added: 1 s.
    pub reason: Duration,
    /// How long nodes are asked why transactions failed: 30 s.
    pub reason_patience: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            lease: LEASE_TIMEOUT,
            fresh: Duration::from_secs(2),
            rebroadcast: Duration::from_secs(3),
            grace: Duration::from_secs(6),
            nonce_grace: Duration::from_secs(2),
            quiet: Duration::from_secs(13),
            affinity: Duration::from_secs(15),
            proof_patience: Duration::from_secs(60),
            facts: Duration::from_secs(1),
            reason: Duration::from_secs(1),
            reason_patience: Duration::from_secs(30),
        }
    }
}

/// The relay on one chain.
pub struct ChainRelay {
    /// The chain.
    pub chain: Chain,
    /// Its nodes.
    pub node: Node,
    /// The lanes' keys.
    pub signers: LaneSigners,
    /// The last check before a signature.
    pub policy: Policy,
    /// The accounts that lanes act through.
    pub operator: OperatorAccount,
    /// Queue, batches and outcomes.
    pub transactions: Transactions,
    /// Which wallets are an artist's own.
    pub artists: Artists,
    /// Where artists' money may go.
    pub payouts: PayoutAddresses,
    /// Which collections a known factory made.
    pub provenance: Provenance,
    /// This process, among others that may lead.
    pub holder: String,
    /// How long it waits.
    pub times: Times,
    /// Transactions of the queue that a turn reads: its first ones, and as many further on.
    pub window: usize,
}

/// The relay on a chain, with the lease that its writes need.
#[derive(Clone, Copy)]
pub(crate) struct Leadership<'a> {
    pub(crate) relay: &'a ChainRelay,
    pub(crate) lease: &'a Lease,
}

impl Deref for Leadership<'_> {
    type Target = ChainRelay;

    fn deref(&self) -> &ChainRelay {
        self.relay
    }
}

impl ChainRelay {
    /// Unix time in seconds.
    pub(crate) fn now(&self) -> Result<u64, RelayError> {
        Ok(clock::now()?.as_secs())
    }

    /// Fails if a node is another chain's, or none answers. One call for each node.
    pub(crate) async fn check_chain(&self) -> Result<(), RelayError> {
        let mut checked = Err(NodeError::None(self.chain.id));
        for id in self.node.ask_all(|node| async move { node.chain_id().await }).await {
            match id {
                Ok(id) if id == self.chain.id => checked = Ok(()),
                Ok(_) => return Err(RelayError::WrongChain(self.chain.id)),
                Err(error) => checked = checked.or(Err(error)),
            }
        }
        Ok(checked?)
    }

    /// The lanes that the operator Safe has. One call.
    pub(crate) async fn owners(&self) -> Result<Vec<Address>, RelayError> {
        Ok(self.node.read(self.operator.safe, &Safe::getOwnersCall {}).await?.unwrap_or_default())
    }

    /// A lane's next nonce as of a block with enough newer ones, if a block proves it to be above `known`.
    pub(crate) async fn agreed_nonce(&self, lane: model::Address, known: u64) -> Result<u64, NodeError> {
        let next = Nonce { chain: self.chain.id, sender: lane.into(), number: known };
        self.node.agreed_nonce(next, self.chain.confirmations).await
    }

    /// The next nonce of a lane that has no row.
    pub(crate) async fn first_nonce(&self, lane: model::Address) -> Result<u64, NodeError> {
        self.node.first_nonce(self.chain.id, lane.into(), self.chain.confirmations).await
    }

    /// The transaction that used a lane's nonce for good.
    pub(crate) async fn user_of_nonce(&self, slot: Slot) -> Result<Option<B256>, NodeError> {
        let nonce = Nonce { chain: slot.chain, sender: slot.lane.into(), number: slot.nonce };
        self.node.user_of_nonce(nonce, self.chain.confirmations).await
    }

    /// The rows of a batch's transactions, in any order. One read per 100.
    pub(crate) async fn members(&self, batch: &Batch) -> Result<Vec<Transaction>, RelayError> {
        let ids: Vec<_> = batch.members.iter().map(|member| (member.artist_id, member.transaction_id)).collect();
        Ok(self.transactions.get_many(&ids).await?)
    }
}
