//! The relay against a real node, database and KMS.

mod bad_nodes;
mod batches;
mod budgets;
mod calls;
#[path = "../common/mod.rs"]
mod common;
mod days;
mod deposits;
mod facts;
mod fees;
mod forged;
mod hostile;
mod interruptions;
mod lanes;
mod origins;
#[path = "../proxy/mod.rs"]
mod proxy;
mod queue;
mod refusals;
mod reorganisations;
mod restored;
mod settlement;
mod support;
mod tokens;
mod unsent;
mod updates;
mod words;
