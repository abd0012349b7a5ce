//! Indexes the contracts' events of each chain into its table.

mod apply;
mod batch;
mod error;
mod event;
mod follow;
mod progress;
mod propagate;
mod protocol;
mod read;

pub use error::IndexError;
pub use follow::{Followed, Follower};
pub use progress::{HistoryProgress, ProgressReport};
