//! Writing to a chain: policy, simulation, planning, fees, and the words for what contracts refuse.

mod error;
mod fees;
mod packing;
mod planner;
mod policy;
mod revert;
mod simulate;

pub use self::{
    error::PlanError,
    planner::{Planned, Planner},
    policy::{Policy, PolicyError, collections},
    simulate::{SimulationError, simulate_with_gas},
};
