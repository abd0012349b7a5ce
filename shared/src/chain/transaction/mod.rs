//! Writing to a chain: simulation, policy, nonces, signatures, sending, and confirmation.

mod cap;
mod executions;
mod fees;
mod packing;
mod policy;
mod reasons;
mod revert;
mod simulate;

pub use self::{
    cap::gas_cap,
    executions::{Execution, attribute},
    packing::{Load, MAX_TRANSACTION_BYTES, MAX_TRANSACTION_GAS, Operation, Packed, pack, unpack},
    policy::{Policy, PolicyError},
    reasons::{Failure, failure, refusal},
    simulate::{SimulationError, simulate_with_gas},
};
