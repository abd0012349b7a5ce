//! The relay against a real node, database and KMS.

mod batches;
mod support;
