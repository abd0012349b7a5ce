//! What needs two tables.

mod email_changes;
pub(super) mod events;
pub(super) mod notification_reads;
pub(super) mod page_lookups;
mod passkey_changes;
pub(super) mod personal_data;
mod proof_checks;
pub(super) mod wallet_connections;
pub(super) mod ways_in;

pub use self::{
    email_changes::{EmailChanges, EmailProofs, EmailRefusal, KeepRefusal},
    events::EventLogs,
    notification_reads::{NotificationReads, NumberPage},
    page_lookups::{LookupKeys, LookupRows, PageLookups},
    passkey_changes::{PasskeyChanges, PasskeyRefusal},
    personal_data::{Person, PersonalData, PersonalPage},
    wallet_connections::WalletConnections,
    ways_in::WaysIn,
};
