//! The relay against a real node, database and KMS.

mod batches;
#[path = "../common/mod.rs"]
mod common;
mod support;
