//! Nonces that are used for good, and which transaction used one: found in its block, and signed by the sender, so that no
//! node's word has to be taken.

use std::time::Duration;

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
    /// A sender's next nonce as of the block that `confirmations` newer ones follow: the highest that two nodes say or that
    /// a block proves, by the transaction before it; `next` if none is higher. Up to two calls to each node, and those of
    /// [`Node::user_of_nonce`] for the highest if it is a node's alone.
    pub async fn agreed_nonce(&self, next: Nonce, confirmations: u64) -> Result<u64, NodeError> {
        let answers = self.ask_all(|node| async move { node.confirmed_nonce(next.sender, confirmations).await }).await;
        let (mut numbers, mut failure) = (Vec::new(), NodeError::Wrong("a chain without nodes"));
        for answer in answers {
            match answer {
                Ok(number) => numbers.push(number),
                Err(error) => failure = error,
            }
        }
        if numbers.is_empty() {
            return Err(failure);
        }
        numbers.sort_unstable();
        let agreed = numbers.iter().rev().nth(1).copied().unwrap_or_default().max(next.number);
        // One node's alone.
        let Some(last) = numbers.last().filter(|highest| **highest > agreed).map(|highest| highest - 1) else {
            return Ok(agreed);
        };
        match self.user_of_nonce(Nonce { number: last, ..next }, confirmations).await {
            Ok(Some(_)) => Ok(last + 1),
            _ if numbers.len() > 1 => Ok(agreed),
            Ok(None) => Err(NodeError::Wrong("no block has the transaction before a sender's nonce")),
            Err(error) => Err(error),
        }
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
