//! What an artist wants done on a chain, and what can come in between.

use alloy::{primitives, signers};

use super::{
    account::Call,
    node::{NodeError, SendError},
    policy::PolicyError,
    signer::SignerError,
    simulate::SimulationError,
};
use crate::{
    model::Address,
    store::{CallerState, ClaimRefusal, ReplayKey, StoreError},
};

/// Why a write wasn't made, or isn't known to have been.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A contract refuses it: this is why, in words.
    #[error("{0}")]
    Reverts(String),
    /// A contract refuses it to this account: this is why, in words.
    #[error("{0}")]
    Forbidden(String),
    /// The policy doesn't allow it.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The artist's account hasn't the money that it should send along.
    #[error("the account can't pay")]
    AccountCannotPay,
    /// The lane hasn't the money for the gas.
    #[error("lane {0} can't pay for gas")]
    LaneCannotPay(primitives::Address),
    /// The artist's wallet isn't what follows from the lane and the id.
    #[error("{0} is not the account of its artist and lane")]
    ForeignWallet(Address),
    /// There is no nonce for it now.
    #[error("nothing to claim: {0:?}")]
    Claim(ClaimRefusal),
    /// It took so long that its nonce was given up. Nothing was sent.
    #[error("the nonce was given up before the transaction was signed")]
    TooLate,
    /// Every node refuses its transaction for good. Nothing was sent.
    #[error("refused by the nodes")]
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

/// What an artist wants done.
#[derive(Clone, Debug)]
pub struct Write {
    /// The artist, as storage knew them just now.
    pub caller: CallerState,
    /// What the account shall call, all of it or nothing.
    pub calls: Vec<Call>,
    /// The idempotency key and the hash of the request that brings it.
    pub replay: Option<(ReplayKey, String)>,
}
