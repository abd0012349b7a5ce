//! The client that progenitor makes of the API description.

// Warnings of what the tool writes aren't ours; types that don't fit are errors anyway.
#[allow(warnings, clippy::all, missing_docs)]
mod client {
    include!(concat!(env!("OUT_DIR"), "/client.rs"));
}

pub use client::*;

/// The description that the client is made of, as JSON.
pub const DESCRIPTION: &str = include_str!(concat!(env!("OUT_DIR"), "/description.json"));
