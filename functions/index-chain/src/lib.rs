//! Follows chains and keeps what the contracts on them say.

mod apply;
mod carry;
mod event;
mod follow;
mod protocol;
mod read;
mod span;

pub use follow::{Followed, Follower, IndexError};
