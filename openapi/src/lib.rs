//! Makes the published API description, `openapi.json`, of the resources' contracts. What the endpoints have in common is
//! here: the document's frame, and the headers and errors that follow from an endpoint's inputs.
//!
//! `tests/contract.rs` compares the published document with it; with `OPENAPI=write`, as in `make openapi`, it writes it.
#![warn(missing_docs)]

mod document;
mod endpoint;
mod errors;
mod example;
mod frame;
mod names;
mod polish;
mod webhooks;

pub use document::{DocumentError, document};
