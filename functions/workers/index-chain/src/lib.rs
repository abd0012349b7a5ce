//! Indexes the contracts' events of each chain into its table.

mod apply;
mod batch;
mod deliveries;
mod error;
mod event;
mod follow;
mod progress;
mod propagate;
mod protocol;
mod read;
mod run;

pub use deliveries::Deliveries;
pub use error::IndexError;
pub use follow::{Followed, Follower};
pub use run::{ChainOutcome, ChainRun};
