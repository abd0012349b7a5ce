//! Writing to a chain: simulation, policy, nonces, signatures, sending, and confirmation.

mod cap;
mod context;
mod executions;
mod fees;
mod packing;
mod policy;
mod prepare;
mod reasons;
mod request;
mod revert;
mod sender;
mod simulate;

pub use self::{
    cap::gas_cap,
    executions::{Execution, attribute},
    packing::{Load, MAX_TRANSACTION_BYTES, MAX_TRANSACTION_GAS, Operation, Packed, pack, unpack},
    policy::{Policy, PolicyError},
    prepare::Prepared,
    reasons::{failure_reason, refusal},
    request::{WriteError, WriteRequest},
    sender::{Broadcast, CLAIM_LIFETIME, Claimed, Confirmation, Outcome, Signed, TransactionSender, mined_in},
    simulate::{SimulationError, simulate_with_gas},
};
