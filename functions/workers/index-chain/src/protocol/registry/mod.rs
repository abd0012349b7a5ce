//! The registry protocol: ERC-1155 collections whose tokens one controller sells for an ERC-20 currency.

mod events;
#[cfg(test)]
mod tests;

use alloy::primitives::Address;
use shared::{chain::RegistryAddresses, model::Protocol};

use super::reader::ProtocolReader;

/// The reader of the protocol with its contracts at these addresses, which sells for this currency.
pub fn reader(known: RegistryAddresses, currency: Address) -> ProtocolReader {
    ProtocolReader::new(Protocol::Registry, vec![known.factory], events::table(known, currency))
}
