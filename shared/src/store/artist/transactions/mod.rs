//! Artists' transactions, and the lanes' batches that carry them. Rows: docs/data-model.md, Transactions.

mod account;
mod admission;
mod batch;
mod budget;
mod caller;
mod charge;
mod claim;
mod journey;
mod lane;
mod lease;
mod outcome_event;
mod outlay;
mod queue;
mod replay;
mod restored;
mod transaction;

pub use self::{
    account::AccountState,
    admission::{Admission, AdmissionRefusal, Admitted, MAX_SERIES, MAX_WAITING, NewTransaction},
    batch::{Attempt, Batch, BatchStatus, Member, MinedIn, PendingEnding, Slot},
    caller::CallerState,
    charge::{Charge, CountedOutlay, Pool, PoolLimit},
    journey::{Ending, Requeue},
    lane::LaneState,
    lease::Lease,
    outlay::{Outlay, Spent},
    queue::Queued,
    replay::{Replay, ReplayClaim, ReplayKey},
    restored::RestoredBatch,
    transaction::{BatchReference, StoredPlan, Transaction, TransactionPage, Transactions},
};
pub(in crate::store) use replay::replay_key;
