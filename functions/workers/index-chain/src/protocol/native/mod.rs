//! The service's own protocol: its factory and collections, the sale strategies, the comments protocol and splits.

mod events;
#[cfg(test)]
mod tests;

use shared::{
    chain::{ChainAddresses, Role},
    model::Protocol,
};

pub use self::events::referral;
use super::reader::ProtocolReader;

/// The reader of the protocol with its contracts at these addresses.
pub fn reader(known: &ChainAddresses) -> ProtocolReader {
    ProtocolReader::new(Protocol::Native, known.all(Role::Factory), events::table(known))
}
