use alloy::{primitives, signers};

use super::{policy::PolicyError, simulate::SimulationError};
use crate::{
    chain::{
        node::{NodeError, SendError},
        wallet::{Call, SignerError},
    },
    model::Address,
    store::{CallerState, ClaimRefusal, ReplayKey, StoreError},
};

/// Reason why a write failed, or why its outcome is unknown.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A contract reverts; the reason in words.
    #[error("{0}")]
    Reverts(String),
    /// A contract denies it to this account; the reason in words.
    #[error("{0}")]
    Forbidden(String),
    /// The policy refuses it.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The artist's account can't pay the value that it sends.
    #[error("the account can't pay")]
    AccountCannotPay,
    /// The lane can't pay for gas.
    #[error("lane {0} can't pay for gas")]
    LaneCannotPay(primitives::Address),
    /// The artist's wallet isn't the account that follows from the lane and the id.
    #[error("{0} is not the account of its artist and lane")]
    ForeignWallet(Address),
    /// No nonce could be claimed.
    #[error("no nonce to claim: {0:?}")]
    Claim(ClaimRefusal),
    /// The nonce was given up before the signed bytes were stored. Nothing was sent.
    #[error("the nonce was given up before the transaction was signed")]
    TooLate,
    /// The nodes refuse the transaction for good. Nothing was sent.
    #[error("the nodes refuse the transaction")]
    Refused(#[source] SendError),
    /// No node answers.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The lane didn't sign.
    #[error(transparent)]
    Signer(#[from] SignerError),
    /// The lane didn't sign.
    #[error(transparent)]
    Signature(#[from] signers::Error),
}

impl From<SimulationError> for WriteError {
    fn from(error: SimulationError) -> Self {
        match error {
            SimulationError::Reverts(reason) => Self::Reverts(reason),
            SimulationError::Forbidden(reason) => Self::Forbidden(reason),
            SimulationError::CannotPay => Self::AccountCannotPay,
            SimulationError::Node(error) => Self::Node(error),
        }
    }
}

/// A write that an artist requests.
#[derive(Clone, Debug)]
pub struct WriteRequest {
    /// The artist's state, as just read from storage.
    pub caller: CallerState,
    /// Calls of the artist's account, all or none.
    pub calls: Vec<Call>,
    /// Idempotency key and hash of the request.
    pub replay: Option<(ReplayKey, String)>,
}
