//! Transactions of the operator lanes; no nonce exists without one. Rows: docs/data-model.md, Transactions.

mod caller;
mod claim;
mod rows;
mod settle;

pub use self::{
    caller::{CallerState, DAY, Transactions},
    claim::{Claim, ClaimRefusal, GasLimits, NewTransaction},
    rows::{
        AccountState, Answer, Attempt, Intent, LaneState, MAX_OPEN, MinedIn, ReplayKey, ReplayedRequest, Slot, Status,
        Transaction,
    },
};
