//! Nonces that are used for good, and which transaction used one: found in its block, so that no node's word for an
//! absence has to be taken.

use alloy::{
    consensus::Transaction,
    eips::{BlockId, BlockNumberOrTag},
    network::TransactionResponse,
    primitives::{Address, B256},
    providers::{DynProvider, Provider},
    transports::{RpcError, TransportErrorKind},
};

use super::client::{Node, NodeError};

impl Node {
    /// Nonce of a sender's next transaction as of the block that `confirmations` newer ones follow, never above `known`
    /// unless two nodes say so or a block shows the transaction before it. Up to two calls to each node, and those of
    /// [`Node::user_of_nonce`] if only one answers.
    pub async fn agreed_nonce(&self, sender: Address, known: u64, confirmations: u64) -> Result<u64, NodeError> {
        let answers = self.ask_all(|node| async move { node.confirmed_nonce(sender, confirmations).await }).await;
        let (mut nonces, mut failure) = (Vec::new(), NodeError::Wrong("a chain without nodes"));
        for answer in answers {
            match answer {
                Ok(nonce) => nonces.push(nonce),
                Err(error) => failure = error,
            }
        }
        let Some(least) = nonces.iter().min().copied() else { return Err(failure) };
        let Some(last) = least.checked_sub(1).filter(|_| least > known && nonces.len() == 1) else { return Ok(least) };
        match self.user_of_nonce(sender, last, confirmations).await? {
            Some(_) => Ok(least),
            None => Err(NodeError::Wrong("no block has the transaction before a sender's nonce")),
        }
    }

    async fn confirmed_nonce(&self, sender: Address, confirmations: u64) -> Result<u64, NodeError> {
        self.ask(|node| async move {
            let block = node.get_block_number().await?.saturating_sub(confirmations);
            node.get_transaction_count(sender).block_id(BlockId::number(block)).await
        })
        .await
    }

    /// Hash of the transaction that used a sender's nonce; `None` unless it has `confirmations`. Two calls for each doubling
    /// of the transaction's age in blocks. An error can also mean that no node has the state of that block any more.
    pub async fn user_of_nonce(
        &self,
        sender: Address,
        nonce: u64,
        confirmations: u64,
    ) -> Result<Option<B256>, NodeError> {
        self.ask(|node| find(node, sender, nonce, confirmations)).await
    }
}

async fn find(
    node: DynProvider,
    sender: Address,
    nonce: u64,
    confirmations: u64,
) -> Result<Option<B256>, RpcError<TransportErrorKind>> {
    let is_used = async |block: u64| {
        Ok::<_, RpcError<TransportErrorKind>>(
            node.get_transaction_count(sender).block_id(BlockId::number(block)).await? > nonce,
        )
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
    let block = node.get_block_by_number(BlockNumberOrTag::Number(high)).full().await?;
    let transactions = block.into_iter().flat_map(|block| block.transactions.into_transactions());
    let mut users = transactions.filter(|found| found.from() == sender && found.nonce() == nonce);
    match (users.next(), unknown) {
        (None, Some(error)) => Err(error),
        (found, _) => Ok(found.map(|found| found.tx_hash())),
    }
}
