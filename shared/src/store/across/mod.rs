//! What needs two tables.

pub(super) mod events;
pub(super) mod notification_reads;
pub(super) mod page_lookups;
pub(super) mod personal_data;
pub(super) mod wallet_connections;
pub(super) mod ways_in;

pub use self::{
    events::EventLogs,
    notification_reads::{NotificationReads, NumberPage},
    page_lookups::{LookupKeys, LookupRows, PageLookups},
    personal_data::{Person, PersonalData, PersonalPage},
    wallet_connections::WalletConnections,
    ways_in::{PasskeyRefusal, WaysIn},
};
