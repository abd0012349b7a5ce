//! The protocols whose contracts are followed. Each says which contracts and events those are, and what the events mean
//! in the words of [`Fact`]; everything else is the same for all of them.

mod editions;
mod native;
mod registry;

use alloy::{
    primitives::Log,
    primitives::{Address, B256, LogData},
};
use shared::{chain::Chain, model::Protocol};

use crate::event::Fact;

/// How one protocol's contracts are read.
pub trait ProtocolReader: Send + Sync {
    /// Its name.
    fn protocol(&self) -> Protocol;

    /// Contracts whose addresses are known beforehand: factories, minters and the like.
    fn contracts(&self) -> Vec<Address>;

    /// Topics of every event that counts, of those contracts and of collections.
    fn topics(&self) -> Vec<B256>;

    /// What a log says; `None` when it isn't what its topic claims, or has no say where it comes from. The emitter is one
    /// of [`ProtocolReader::contracts`], or else a collection of this protocol.
    fn read(&self, log: &Log<LogData>) -> Option<Fact>;

    /// Contracts that hold permissions only for as long as they set something up, and are nobody's admin.
    fn factories(&self) -> Vec<Address>;
}

/// Every protocol that has contracts on a chain.
pub fn readers(chain: &Chain) -> Vec<Box<dyn ProtocolReader>> {
    let known = &chain.addresses;
    let mut readers: Vec<Box<dyn ProtocolReader>> = vec![Box::new(native::Native::new(known.clone()))];
    if let Some(contracts) = known.registry {
        readers.push(Box::new(registry::Registry::new(contracts, known.usdc)));
    }
    if let Some(contracts) = known.editions {
        readers.push(Box::new(editions::Editions::new(contracts)));
    }
    readers
}
