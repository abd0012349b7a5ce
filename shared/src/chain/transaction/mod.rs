//! Writing to a chain: simulation, policy, nonces, signatures, sending, and confirmation.

mod context;
mod fees;
mod policy;
mod prepare;
mod request;
mod revert;
mod sender;
mod simulate;

pub use self::{
    policy::{Policy, PolicyError},
    prepare::Prepared,
    request::{WriteError, WriteRequest},
    sender::{Broadcast, CLAIM_LIFETIME, Claimed, Confirmation, Outcome, Signed, TransactionSender, mined_in},
    simulate::{SimulationError, simulate_with_gas},
};
