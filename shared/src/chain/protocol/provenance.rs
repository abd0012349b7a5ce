//! Whether a collection was made by the configured factory.

use alloy::{primitives::Address, rpc::types::Filter, sol_types::SolEvent};

use crate::{
    chain::{
        chains::Chain,
        contracts::native::CreatorFactory::SetupNewContract,
        node::{Node, NodeError},
    },
    model,
};

/// Whether the factory made a collection in block `since` or later, by its own log: code can be copied. Two calls.
pub async fn was_made_since(
    node: &Node,
    chain: &Chain,
    collection: model::Address,
    since: u64,
) -> Result<bool, NodeError> {
    // Nodes refuse ranges that begin after their newest block.
    let first = since.min(node.newest_block().await?);
    let made = Filter::new()
        .address(chain.addresses.factory)
        .event_signature(SetupNewContract::SIGNATURE_HASH)
        .topic1(Address::from(collection).into_word())
        .from_block(first);
    Ok(!node.logs(&made).await?.is_empty())
}
