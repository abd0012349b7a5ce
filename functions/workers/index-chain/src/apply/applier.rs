//! What applying a batch of events needs at hand.

use std::collections::HashMap;

use alloy::primitives::{Address, U256};
use shared::{
    chain::Chain,
    model::{self, ArtistId, ContentType, Counts, Event, EventData, EventId, Moment, MomentRef, StatsSubject},
    store::{
        StoreError,
        artist::Withheld,
        chain::{Documents, NamedDocument, can_change, collection_key},
        engine::{PrimaryKey, UnitOfWork},
    },
};

use super::{
    batch_limit::BatchLimit,
    collects::Collects,
    creators::{Creation, Creators},
    names::Names,
};
use crate::event::{ChainEvent, Collections, Position};

/// Applies one batch of events.
pub struct Applier<'a> {
    pub chain: &'a Chain,
    /// Contracts that are never listed as admins.
    pub factories: &'a [Address],
    pub known: &'a mut Collections,
    pub hidden: &'a HashMap<MomentRef, ArtistId>,
    pub withheld: &'a Withheld,
    pub work: &'a mut UnitOfWork,
    pub documents: &'a Documents,
    pub names: Names<'a>,
    pub creators: Creators<'a>,
    /// Content types by URI, of documents that are fetched already.
    pub content_types: HashMap<String, ContentType>,
    /// Documents to read again, by URI: the collection that named one again, and when.
    pub again: HashMap<String, (model::Address, u64)>,
    /// Pairs of purchases and transfers.
    pub collects: &'a Collects,
    pub limit: BatchLimit,
}

impl Applier<'_> {
    /// Queues documents to be fetched, and learns the content types of those that are fetched already.
    pub async fn queue_documents(&mut self, named: impl Iterator<Item = NamedDocument<'_>>) -> Result<(), StoreError> {
        let documents = self.documents.queue(self.chain.id, named).await?;
        let types =
            documents.into_iter().filter_map(|(uri, document)| Some((uri.to_owned(), document.content_type()?)));
        self.content_types.extend(types);
        Ok(())
    }

    /// The creator of what a log created in an account's name.
    pub async fn creator(
        &mut self,
        at: &Position,
        named: model::Address,
        sender: model::Address,
    ) -> Result<model::Address, StoreError> {
        let creation = Creation { id: self.id(at), named, sender, time: at.time };
        // Boxed: futures nested this deeply exceed the compiler's limits.
        Box::pin(self.creators.creator(&mut self.names, creation)).await
    }

    /// Notes that what was created at a time named its document again, which may be another one by now.
    pub fn name_again(&mut self, ChainEvent { emitter, at, .. }: &ChainEvent, uri: &str, created_at: u64) {
        if at.time > created_at && can_change(uri) {
            self.again.insert(uri.to_owned(), ((*emitter).into(), at.time));
        }
    }

    /// Queues what was named again to be read again.
    pub async fn read_again(&mut self) -> Result<(), StoreError> {
        let again = std::mem::take(&mut self.again);
        let named = again.iter().map(|(uri, &(collection, at))| NamedDocument { uri, collection, at });
        self.documents.read_again(self.chain.id, named).await
    }

    /// Emits an event that a log caused; `nth` distinguishes several of one type.
    pub fn emit(&mut self, at: &Position, nth: u64, data: EventData) -> Result<(), StoreError> {
        let id = self.id(at).of_its(&format!("{} {nth}", data.kind().word()));
        self.work.emit(&Event { id, time: at.time, is_reverted: false, data })
    }

    /// Counts what happened to a moment, for who created it and for its collection, and who collected it.
    pub async fn count(
        &mut self,
        moment: &Moment,
        time: u64,
        counts: Counts,
        collector: Option<model::Address>,
    ) -> Result<(), StoreError> {
        for subject in subjects(moment) {
            self.work.count((moment.chain_id, subject), time, counts, collector).await?;
        }
        Ok(())
    }

    pub fn is_full(&self) -> bool {
        self.limit.is_reached(self.work)
    }

    pub fn knows(&self, collection: Address) -> bool {
        self.known.contains_key(&collection)
    }

    pub fn place(&self, collection: Address, token: U256) -> MomentRef {
        MomentRef { chain: self.chain.id, collection: collection.into(), token: token.into() }
    }

    pub fn collection_key(&self, collection: Address) -> PrimaryKey {
        collection_key(self.chain.id, collection.into())
    }

    pub fn id(&self, at: &Position) -> EventId {
        EventId::new(self.chain.id, at.transaction, at.log_index)
    }
}

/// Whose counts a moment is in.
pub fn subjects(moment: &Moment) -> [StatsSubject; 2] {
    [StatsSubject::Artist(moment.creator), StatsSubject::Collection(moment.collection)]
}
