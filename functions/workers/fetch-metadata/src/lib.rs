//! Fetches metadata documents. Anyone can put any URI on a chain, so no address, size or answer is trusted.
#![warn(missing_docs)]

mod fetch;
mod gateway;
mod queue;

pub use fetch::{FetchError, Fetcher};
pub use gateway::Gateways;
pub use queue::{Fetched, Queue};
