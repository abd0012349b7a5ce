//! Indexes the contracts' events of each chain into its table.

mod apply;
mod event;
mod follow;
mod propagate;
mod protocol;
mod read;
mod span;

pub use follow::{Followed, Follower, IndexError};
