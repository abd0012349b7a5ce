//! Fetches metadata documents. Anyone can put any URI on a chain, so every address, size and answer here is a
//! stranger's.
#![warn(missing_docs)]

mod address;
mod fetch;
mod gateway;
mod queue;

pub use fetch::{FetchError, Fetcher};
pub use gateway::Gateways;
pub use queue::{Fetched, Queue};
