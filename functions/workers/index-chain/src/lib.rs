//! Indexes the contracts' events of each chain into its table.

mod apply;
mod batch;
mod error;
mod event;
mod follow;
mod pace;
mod propagate;
mod protocol;
mod read;

pub use error::IndexError;
pub use follow::{Followed, Follower};
pub use pace::{Pace, Report};
