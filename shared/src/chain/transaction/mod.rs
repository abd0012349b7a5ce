//! Writing to a chain: policy, simulation, planning, packing, outcomes, fees, and the words for what contracts refuse.

mod cap;
mod data_fee;
mod error;
mod executions;
mod fees;
mod packing;
mod planner;
mod policy;
mod power;
mod reasons;
mod revert;
mod simulate;

pub use self::{
    cap::gas_cap,
    data_fee::data_fee,
    error::PlanError,
    executions::{Execution, attribute},
    packing::{Load, MAX_TRANSACTION_BYTES, MAX_TRANSACTION_GAS, Operation, Packed, pack, unpack},
    planner::{Planned, Planner},
    policy::{Policy, PolicyError, collections, payees},
    power::{Power, kind_of},
    reasons::{failure, failures, refusal},
    simulate::{SimulationError, simulate_with_gas},
};
