//! Where new moments go, as the chain has it.

use alloy::primitives::{Address, U256};

use super::{
    contracts::Creator1155,
    node::{Node, NodeError},
};
use crate::model::{self, MetadataUri, TargetCollection};

/// Why a destination isn't known.
#[derive(Debug, thiserror::Error)]
pub enum DestinationError {
    /// There is no collection where there should be one.
    #[error("no collection at {0}")]
    NoCollection(model::Address),
    /// No node answered.
    #[error(transparent)]
    Node(#[from] NodeError),
}

/// A collection that new moments go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination<'a> {
    /// One that is made with them.
    New {
        /// Its name.
        name: &'a str,
        /// Its metadata.
        uri: &'a MetadataUri,
    },
    /// One that is there.
    Existing {
        /// The contract.
        contract: Address,
        /// The id that its next token gets.
        next_token: U256,
        /// What it is called.
        name: String,
    },
}

impl<'a> Destination<'a> {
    /// Asks a collection that should be there about itself. At most two RPC calls, at the same time.
    ///
    /// # Errors
    /// When it isn't there, or no node answers.
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
