//! The protocols whose contracts are indexed, each in a folder of its own. `events.rs` there has the protocol's table of
//! events: everything else (contracts, topics, decoding, tests) follows from its rows.

mod editions;
mod erc1155;
mod native;
pub mod reader;
mod registry;
#[cfg(test)]
mod tests;

use shared::chain::Chain;

pub use self::native::referral;
use self::reader::ProtocolReader;

/// Readers of the protocols that have contracts on a chain.
pub fn readers(chain: &Chain) -> Vec<ProtocolReader> {
    let known = &chain.addresses;
    let registry = known.registry.map(|addresses| registry::reader(addresses, known.usdc));
    let editions = known.editions.map(editions::reader);
    [Some(native::reader(known)), registry, editions].into_iter().flatten().collect()
}
