//! The operator's accounts on a chain: what they should be ([`Setup`]), what they are ([`State`]), the guardian's
//! transactions from one to the other ([`Plan`]), and every difference in words ([`differences`]).

pub mod command;
mod difference;
mod execute;
mod guard;
mod plan;
mod state;
#[cfg(test)]
mod tests;

use alloy::primitives::Address;
use shared::chain::wallet::OperatorAccount;

pub use self::{
    difference::differences,
    execute::{Guardian, execute},
    guard::Guard,
    plan::{Plan, PlanError, Step},
    state::{SafeState, State},
};

/// What the operator's accounts should be.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The operator's accounts.
    pub account: OperatorAccount,
    /// The guardian: a KMS key, or a Safe of several people.
    pub guardian: Address,
    /// The lanes.
    pub lanes: Vec<Address>,
    /// The operator Safe's guard; `None` leaves it out.
    pub guard: Option<Guard>,
    /// Least balance of a lane, in billionths of the chain's currency.
    pub low_lane_balance: u64,
}
