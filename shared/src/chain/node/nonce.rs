//! Nonces that are used for good, and which transaction used one: found in its block, and signed by the sender, so that no
//! node's word has to be taken.

use std::{collections::BTreeSet, time::Duration};

use alloy::{
    consensus::{Transaction, TxEnvelope, transaction::SignerRecoverable},
    eips::BlockId,
    primitives::{Address, B256},
    providers::{DynProvider, Provider},
    transports::{RpcError, TransportErrorKind},
};

use super::{
    block::SealedBlock,
    client::{Node, NodeError},
    receipt::Standing,
};
use crate::model::ChainId;

/// Longest search of one node for a transaction.
const LONGEST_SEARCH: Duration = Duration::from_secs(20);

/// A nonce of an account on a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nonce {
    /// The chain.
    pub chain: ChainId,
    /// The account.
    pub sender: Address,
    /// Its number.
    pub number: u64,
}

impl Node {
    /// A sender's next nonce as of the block that `confirmations` newer ones follow: the highest above `next` that a
    /// node says and a block proves, by the transaction before it; `next` if no node says a higher one. Fails if no
    /// block proves what nodes say, with [`NodeError::Undecided`] where all of several say the same: `next` is used. Up
    /// to two calls to each node, and those of [`Node::user_of_nonce`] for each higher number.
    pub async fn agreed_nonce(&self, next: Nonce, confirmations: u64) -> Result<u64, NodeError> {
        let numbers = self.confirmed_nonces(next.sender, confirmations).await?;
        match self.proved_nonce(next, &numbers, confirmations).await {
            Ok(proved) => Ok(proved.unwrap_or(next.number)),
            Err(reason) if self.is_unanimous(&numbers) => Err(NodeError::Undecided(Box::new(reason))),
            Err(reason) => Err(reason),
        }
    }

    /// The same of a sender of which nothing is known: what all of several nodes say; else the highest number that a
    /// block proves; else 0, if a node says so. Fails with [`NodeError::Undecided`] without any of these. What
    /// [`Node::agreed_nonce`] takes.
    pub async fn first_nonce(&self, chain: ChainId, sender: Address, confirmations: u64) -> Result<u64, NodeError> {
        let numbers = self.confirmed_nonces(sender, confirmations).await?;
        let lowest = numbers.iter().copied().min().unwrap_or_default();
        if self.is_unanimous(&numbers) {
            return Ok(lowest);
        }
        let first = Nonce { chain, sender, number: 0 };
        match self.proved_nonce(first, &numbers, confirmations).await {
            Ok(proved) => Ok(proved.unwrap_or_default()),
            Err(_) if lowest == 0 => Ok(0),
            Err(reason) => Err(NodeError::Undecided(Box::new(reason))),
        }
    }

    /// The highest of these numbers that a block proves; `None` if none is above `next`.
    async fn proved_nonce(&self, next: Nonce, numbers: &[u64], confirmations: u64) -> Result<Option<u64>, NodeError> {
        let higher: BTreeSet<_> = numbers.iter().copied().filter(|number| *number > next.number).collect();
        let mut proved = Ok(None);
        for number in higher.into_iter().rev() {
            match self.user_of_nonce(Nonce { number: number - 1, ..next }, confirmations).await {
                Ok(Some(_)) => return Ok(Some(number)),
                Ok(None) if proved.is_err() => {}
                Ok(None) => proved = Err(NodeError::Wrong("no block has the transaction before a sender's nonce")),
                Err(error) => proved = Err(error),
            }
        }
        proved
    }

    /// Whether each of several nodes has said one of these numbers, and all the same.
    fn is_unanimous(&self, numbers: &[u64]) -> bool {
        self.count() > 1
            && numbers.len() == self.count()
            && numbers.iter().all(|number| Some(number) == numbers.first())
    }

    /// What the nodes that answer say. Fails if none does.
    async fn confirmed_nonces(&self, sender: Address, confirmations: u64) -> Result<Vec<u64>, NodeError> {
        let answers = self.ask_all(|node| async move { node.confirmed_nonce(sender, confirmations).await }).await;
        let (mut numbers, mut failure) = (Vec::new(), NodeError::Wrong("a chain without nodes"));
        for answer in answers {
            match answer {
                Ok(number) => numbers.push(number),
                Err(error) => failure = error,
            }
        }
        if numbers.is_empty() { Err(failure) } else { Ok(numbers) }
    }

    async fn confirmed_nonce(&self, sender: Address, confirmations: u64) -> Result<u64, NodeError> {
        self.ask(|node| async move {
            let block = node.get_block_number().await?.saturating_sub(confirmations);
            node.get_transaction_count(sender).block_id(BlockId::number(block)).await
        })
        .await
    }

    /// Hash of the transaction that used a nonce, in a block with `confirmations` that a node shows, unless another node
    /// that answers lacks that block; `None` if none does. Two calls to each node for each doubling of the transaction's
    /// age in blocks. An error can also mean that no node has the state of that block any more.
    pub async fn user_of_nonce(&self, nonce: Nonce, confirmations: u64) -> Result<Option<B256>, NodeError> {
        let search = |node: Self| async move {
            let found = node.ask(|node| find(node, nonce, confirmations));
            tokio::time::timeout(LONGEST_SEARCH, found).await.unwrap_or(Err(NodeError::Deadline))
        };
        let mut searched = Ok(None);
        for (prover, found) in self.ask_all(search).await.into_iter().enumerate() {
            match found {
                Ok(Some(found)) => match self.standing_beside(prover, found.block, found.block_hash).await {
                    Standing::Unseen(heads) if heads.iter().any(Option::is_some) => {}
                    Standing::Contradicted => {}
                    Standing::Held | Standing::Unseen(_) => return Ok(Some(found.hash)),
                },
                Ok(None) => {}
                Err(error) => searched = Err(error),
            }
        }
        searched
    }
}

/// A transaction in a block.
struct Found {
    hash: B256,
    block: u64,
    block_hash: B256,
}

async fn find(
    node: DynProvider,
    nonce: Nonce,
    confirmations: u64,
) -> Result<Option<Found>, RpcError<TransportErrorKind>> {
    let is_used = async |block: u64| {
        let next = node.get_transaction_count(nonce.sender).block_id(BlockId::number(block)).await?;
        Ok::<_, RpcError<TransportErrorKind>>(next > nonce.number)
    };
    // It is used in `high`, and not yet in `low`.
    let mut high = node.get_block_number().await?.saturating_sub(confirmations);
    if !is_used(high).await? {
        return Ok(None);
    }
    let (mut low, mut step, mut unknown) = (high.saturating_sub(1), 1_u64, None);
    while low > 0 {
        match is_used(low).await {
            Ok(true) => (high, step) = (low, step.saturating_mul(2)),
            Ok(false) => break,
            // A node without states as old as that may still have the one that is looked for.
            Err(error) => {
                unknown = Some(error);
                break;
            }
        }
        low = low.saturating_sub(step);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match is_used(middle).await {
            Ok(true) => high = middle,
            Ok(false) => (low, unknown) = (middle, None),
            Err(error) => (low, unknown) = (middle, Some(error)),
        }
    }
    let block = SealedBlock::read(&node, high).await?;
    let found = block.and_then(|block| {
        let hash = *block.signed().find(|signed| nonce.is_used_by(signed))?.tx_hash();
        Some(Found { hash, block: high, block_hash: block.hash })
    });
    match (found, unknown) {
        (None, Some(error)) => Err(error),
        (found, _) => Ok(found),
    }
}

impl Nonce {
    fn is_used_by(&self, signed: &TxEnvelope) -> bool {
        signed.nonce() == self.number
            && signed.chain_id() == Some(self.chain.0)
            && signed.recover_signer().is_ok_and(|signer| signer == self.sender)
    }
}
