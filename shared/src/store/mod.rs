//! DynamoDB: three tables and one file per aggregate. docs/data-model.md describes every row.

pub mod artist;
pub mod chain;
pub mod engine;
mod events;
mod notification_reads;
mod personal;
mod related;
pub mod secret;
mod wallet_connections;

pub use self::{
    artist::*,
    chain::*,
    engine::*,
    events::EventLogs,
    notification_reads::{NotificationReads, NumberPage},
    personal::{ARTIST_KINDS, Person, PersonalPage, PersonalRows, SECRET_KINDS},
    related::{Related, RelatedKeys, RelatedRows},
    secret::*,
    wallet_connections::WalletConnections,
};
pub use artist::Lease;
pub(crate) use engine::backoff;
pub use engine::{
    Lease as WorkLease,
    table::{ArtistTable, ChainTable, SecretTable},
};
