//! Reads logs by a protocol's table of events.

use alloy::{
    primitives::{Address, B256, Log},
    sol_types::SolEvent,
};
use shared::model::Protocol;

use crate::event::Fact;

/// Reads the logs of one protocol on one chain.
pub struct ProtocolReader {
    protocol: Protocol,
    factories: Vec<Address>,
    events: Vec<IndexedEvent>,
    /// The contracts that the table names.
    contracts: Vec<Address>,
}

type Decoder = dyn Fn(&Log) -> Option<Fact> + Send + Sync;

/// A row of a protocol's table: an event, its emitters and its decoder.
pub struct IndexedEvent {
    topic: B256,
    emitters: Emitters,
    decode: Box<Decoder>,
}

enum Emitters {
    /// Contracts at known addresses: factories, minters and the like.
    Contracts(Vec<Address>),
    /// Every collection of the protocol.
    Collections,
    /// The same, of an event that very many other contracts emit, too.
    CollectionsAmongMany,
}

/// A row for an event of contracts at known addresses.
pub fn of_contracts<E: SolEvent + 'static>(
    contracts: &[Address],
    decode: impl Fn(Log<E>) -> Option<Fact> + Send + Sync + 'static,
) -> IndexedEvent {
    IndexedEvent::new(Emitters::Contracts(contracts.to_vec()), decode)
}

/// A row for an event of the protocol's collections.
pub fn of_collections<E: SolEvent + 'static>(
    decode: impl Fn(Log<E>) -> Option<Fact> + Send + Sync + 'static,
) -> IndexedEvent {
    IndexedEvent::new(Emitters::Collections, decode)
}

/// A row for an event of the protocol's collections that very many other contracts emit, too: nodes are asked for it by
/// address.
pub fn of_collections_among_many<E: SolEvent + 'static>(
    decode: impl Fn(Log<E>) -> Option<Fact> + Send + Sync + 'static,
) -> IndexedEvent {
    IndexedEvent::new(Emitters::CollectionsAmongMany, decode)
}

impl IndexedEvent {
    fn new<E: SolEvent + 'static>(
        emitters: Emitters,
        decode: impl Fn(Log<E>) -> Option<Fact> + Send + Sync + 'static,
    ) -> Self {
        let decode = Box::new(move |log: &Log| decode(E::decode_log(log).ok()?));
        Self { topic: E::SIGNATURE_HASH, emitters, decode }
    }

    fn is_common(&self) -> bool {
        matches!(self.emitters, Emitters::CollectionsAmongMany)
    }
}

impl ProtocolReader {
    /// The reader of a protocol's table. `factories` hold permissions only while they set something up, and are never
    /// listed as admins.
    pub fn new(protocol: Protocol, factories: Vec<Address>, events: Vec<IndexedEvent>) -> Self {
        let named = events.iter().filter_map(|event| match &event.emitters {
            Emitters::Contracts(contracts) => Some(contracts),
            Emitters::Collections | Emitters::CollectionsAmongMany => None,
        });
        let mut contracts: Vec<Address> = named.flatten().copied().collect();
        contracts.sort_unstable();
        contracts.dedup();
        Self { protocol, factories, events, contracts }
    }

    /// The protocol.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Contracts that are never listed as admins.
    pub fn factories(&self) -> &[Address] {
        &self.factories
    }

    /// Contracts at known addresses that emit events of the table.
    pub fn contracts(&self) -> &[Address] {
        &self.contracts
    }

    /// Topics of the table.
    #[cfg(test)]
    pub fn topics(&self) -> impl Iterator<Item = B256> {
        self.events.iter().map(|event| event.topic)
    }

    /// Topics that hardly any other contract emits.
    pub fn rare_topics(&self) -> impl Iterator<Item = B256> {
        self.events.iter().filter(|event| !event.is_common()).map(|event| event.topic)
    }

    /// Topics that very many other contracts emit, too.
    pub fn common_topics(&self) -> impl Iterator<Item = B256> {
        self.events.iter().filter(|event| event.is_common()).map(|event| event.topic)
    }

    /// Decodes a log of one of [`Self::contracts`] or, failing that, of a collection of this protocol. `None` when no row
    /// fits its topic and emitter, or its data isn't the event's.
    pub fn read(&self, log: &Log) -> Option<Fact> {
        let topic = log.topics().first()?;
        let event = self.events.iter().find(|event| event.topic == *topic)?;
        let may_emit = match &event.emitters {
            Emitters::Contracts(contracts) => contracts.contains(&log.address),
            Emitters::Collections | Emitters::CollectionsAmongMany => !self.contracts.contains(&log.address),
        };
        if may_emit { (event.decode)(log) } else { None }
    }
}
