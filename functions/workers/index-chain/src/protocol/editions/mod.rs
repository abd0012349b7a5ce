//! The editions protocol: collections of numbered tokens, each of which is a moment of its own. A token's metadata follows
//! from its tier and its number in the tier.

mod events;
#[cfg(test)]
mod tests;

use shared::{chain::EditionsAddresses, model::Protocol};

use super::reader::ProtocolReader;

/// The reader of the protocol with its contracts at these addresses.
pub fn reader(known: EditionsAddresses) -> ProtocolReader {
    ProtocolReader::new(Protocol::Editions, vec![known.creator], events::table(known))
}
