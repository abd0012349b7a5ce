//! The relay against a real node, database and KMS.

mod bad_nodes;
mod batches;
#[path = "../common/mod.rs"]
mod common;
mod fees;
mod hostile;
mod interruptions;
mod lanes;
#[path = "../proxy/mod.rs"]
mod proxy;
mod refusals;
mod reorganisations;
mod support;
mod tokens;
mod updates;
