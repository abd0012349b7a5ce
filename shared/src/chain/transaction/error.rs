use super::{policy::PolicyError, simulate::SimulationError};
use crate::{
    chain::{node::NodeError, protocol::binding::BindError},
    model::Address,
};

/// Reason why a write can't be queued.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A contract reverts; the reason in words.
    #[error("{0}")]
    Reverts(String),
    /// A contract denies it to this account; the reason in words.
    #[error("{0}")]
    Forbidden(String),
    /// The chain doesn't have what the plan depends on, or refuses what it asks for.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// Other tokens took the ids that the calls were made for, again and again.
    #[error("{0}")]
    Overtaken(String),
    /// The policy refuses it.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The calls are too long for a transaction.
    #[error("calls of {bytes} bytes are longer than {most}")]
    TooLong {
        /// Their length.
        bytes: usize,
        /// Longest that is sent.
        most: usize,
    },
    /// It needs too much gas.
    #[error("{needed} gas is more than the {most} that one write may use")]
    Gas {
        /// Gas limit that it would need.
        needed: u64,
        /// Limit per write.
        most: u64,
    },
    /// The chain's fees are above the cap.
    #[error("the base fee of {base} wei is above the cap of {cap}")]
    Fee {
        /// Base fee of the next block, in wei.
        base: u64,
        /// Cap in wei.
        cap: u64,
    },
    /// The artist's account can't pay the value that it sends.
    #[error("the account can't pay")]
    AccountCannotPay,
    /// The artist's wallet isn't the account that follows from the operator Safe and the id.
    #[error("{0} is not the account of its artist and the operator Safe")]
    ForeignWallet(Address),
    /// No node answers.
    #[error(transparent)]
    Node(#[from] NodeError),
}

impl From<SimulationError> for PlanError {
    fn from(error: SimulationError) -> Self {
        match error {
            SimulationError::Reverts(reason) => Self::Reverts(reason),
            SimulationError::Forbidden(reason) => Self::Forbidden(reason),
            SimulationError::Overtaken(reason) => Self::Overtaken(reason),
            SimulationError::CannotPay => Self::AccountCannotPay,
            SimulationError::Node(error) => Self::Node(error),
        }
    }
}
