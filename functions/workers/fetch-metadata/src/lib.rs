//! Fetches metadata documents. Anyone can put any URI on a chain, so no address, size or answer is trusted.
#![warn(missing_docs)]

mod fetch;
mod queue;
mod slots;

pub use fetch::{FetchError, Fetcher};
pub use queue::{Fetched, Queue};
