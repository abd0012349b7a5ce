//! DynamoDB: three tables and one file per aggregate. docs/data-model.md describes every row.

pub mod artist;
pub mod chain;
pub mod engine;
pub mod secret;

pub mod across;

pub use self::{across::*, artist::*, chain::*, engine::*, secret::*};
pub use artist::Lease;
pub(crate) use engine::backoff;
pub use engine::{
    Lease as WorkLease,
    table::{ArtistTable, ChainTable, SecretTable},
};
