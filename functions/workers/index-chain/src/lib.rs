//! Indexes the contracts' events of each chain into its table.

mod apply;
mod batch;
mod event;
mod follow;
mod pace;
mod propagate;
mod protocol;
mod read;

pub use follow::{Followed, Follower, IndexError};
pub use pace::{Pace, Report};
