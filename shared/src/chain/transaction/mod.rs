//! Writing to a chain: policy, simulation, planning, packing, outcomes, fees, and the words for what contracts refuse.

mod cap;
mod error;
mod executions;
mod fees;
mod packing;
mod planner;
mod policy;
mod reasons;
mod revert;
mod simulate;

pub use self::{
    cap::gas_cap,
    error::PlanError,
    executions::{Execution, attribute},
    packing::{Load, MAX_TRANSACTION_BYTES, MAX_TRANSACTION_GAS, Operation, Packed, pack, unpack},
    planner::{Planned, Planner},
    policy::{Policy, PolicyError, collections},
    reasons::{Failure, failure, failures, refusal},
    simulate::{SimulationError, simulate_with_gas},
};
