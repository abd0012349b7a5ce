use shared::{
    chain::{node::NodeError, wallet::SignerError},
    model::ChainId,
    store::{StoreError, engine::LeaseLost},
    telemetry,
};

/// Why the relay stopped on a chain. What it had begun is stored.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No node answered.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// A lane didn't sign.
    #[error(transparent)]
    Signer(#[from] SignerError),
    /// A lane didn't sign.
    #[error(transparent)]
    Signature(#[from] alloy::signers::Error),
    /// A node answers for another chain.
    #[error("a node of chain {0} answers for another chain")]
    WrongChain(ChainId),
    /// Stored bytes aren't a transaction.
    #[error("stored bytes of {0} are no transaction")]
    Bytes(alloy::primitives::B256),
    /// The clock is set before 1970.
    #[error(transparent)]
    Clock(#[from] std::time::SystemTimeError),
    /// Another process leads.
    #[error("another process leads")]
    LeaseLost,
}

impl From<LeaseLost> for RelayError {
    fn from(_: LeaseLost) -> Self {
        Self::LeaseLost
    }
}

/// Fails if a write was refused because another process leads.
pub(crate) fn ensure_leader(written: bool) -> Result<(), RelayError> {
    if written { Ok(()) } else { Err(RelayError::LeaseLost) }
}

/// Fails if a write was refused because a transaction has changed since it was read: its batch stays as it is, and is
/// concluded again.
pub(crate) fn ensure_unchanged(written: bool) -> Result<(), RelayError> {
    if written { Ok(()) } else { Err(StoreError::Contention("a transaction's attempts").into()) }
}

/// Failures of nodes are not fatal: the step runs again on the next turn.
pub(crate) fn retry_if_node<T: Default>(error: RelayError) -> Result<T, RelayError> {
    match error {
        RelayError::Node(error) => {
            tracing::warn!(error = telemetry::chain(&error), "step of the relay deferred: the chain's nodes failed");
            Ok(T::default())
        }
        error => Err(error),
    }
}
