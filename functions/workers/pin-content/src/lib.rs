//! Pins kept files at a pinning service. Uploads never wait for it, and while it fails the queue is kept.
#![warn(missing_docs)]

mod blocks;
mod queue;
mod service;
mod settings;

pub use queue::{Pinned, Pinner};
pub use settings::Settings;
