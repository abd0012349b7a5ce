//! The collection that a publication goes to.

use alloy::primitives::{Address, U256};

use crate::{
    chain::{
        contracts::native::Creator1155,
        node::{Node, NodeError},
    },
    model::{self, MetadataUri, TargetCollection},
};

/// Reason why a destination can't be used.
#[derive(Debug, thiserror::Error)]
pub enum DestinationError {
    /// The address holds no collection.
    #[error("no collection at {0}")]
    NoCollection(model::Address),
    /// No node answered.
    #[error(transparent)]
    Node(#[from] NodeError),
}

/// The collection that new moments are created in, as found onchain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination<'a> {
    /// A collection to be created with them.
    New {
        /// Name of the collection.
        name: &'a str,
        /// Metadata URI.
        uri: &'a MetadataUri,
    },
    /// An existing collection.
    Existing {
        /// Address of the collection.
        contract: Address,
        /// Id of its next token.
        next_token: U256,
        /// Name of the collection.
        name: String,
    },
}

impl<'a> Destination<'a> {
    /// Reads an existing collection's name and next token id. At most two concurrent calls.
    pub async fn find(node: &Node, target: &'a TargetCollection) -> Result<Self, DestinationError> {
        let address = match target {
            TargetCollection::New { name, uri } => return Ok(Self::New { name, uri }),
            TargetCollection::Existing(address) => *address,
        };
        let (contract, next, name) = (address.into(), Creator1155::nextTokenIdCall {}, Creator1155::nameCall {});
        let (next, name) = tokio::try_join!(node.read(contract, &next), node.read(contract, &name))?;
        let (next_token, name) = next.zip(name).ok_or(DestinationError::NoCollection(address))?;
        Ok(Self::Existing { contract, next_token, name })
    }
}
