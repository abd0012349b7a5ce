//! Why indexing fails.

use shared::{
    chain::node::NodeError,
    store::{StoreError, engine::CommitError},
};

use crate::read::ReadError;

/// Why a chain couldn't be indexed further.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// No node answered.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The chain kept changing during the read.
    #[error(transparent)]
    Read(ReadError),
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The changes couldn't be written.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// Artists' changes are stored, and some of them, or other background work, couldn't be carried out.
    #[error("background work not carried out")]
    Changes(#[source] CommitError),
    /// The chain dropped more blocks than can be undone. Nothing was changed; an operator must decide.
    #[error("the chain dropped block {0}, which is too deep to undo: indexing stops")]
    TooDeep(u64),
}

impl IndexError {
    /// Whether all rows are as their journal says, and artists' changes are stored: the chain or its nodes failed, or
    /// background work did.
    pub fn keeps_changes(&self) -> bool {
        matches!(self, Self::Node(_) | Self::Read(_) | Self::TooDeep(_) | Self::Changes(_))
    }

    /// Why background work, which is stored, wasn't carried out.
    pub fn of_changes(error: CommitError) -> Self {
        match error {
            overtaken @ CommitError::Overtaken => Self::Commit(overtaken),
            error => Self::Changes(error),
        }
    }
}

impl From<ReadError> for IndexError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Node(error) => Self::Node(error),
            changed @ ReadError::Reorganised => Self::Read(changed),
        }
    }
}
