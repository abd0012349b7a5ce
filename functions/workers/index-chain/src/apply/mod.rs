//! Applies events to rows, in the order of the chain. `facts` has one module per kind of fact, the other modules what
//! several of them share.

mod applier;
mod batch_limit;
mod collection;
mod collects;
mod comment;
mod creators;
mod events;
mod facts;
mod kind;
mod moment;
mod names;
mod queue;
mod timeline;

use std::collections::{BTreeSet, HashMap};

use alloy::primitives::Address;
use shared::{
    chain::Chain,
    clock,
    model::{self, ArtistChange, ArtistChanged, ArtistId, MomentRef, Subject},
    store::{
        StoreError,
        artist::{Artists, Withheld},
        chain::{ChainTable, Documents, Moments, NamedDocument, TimelineSubject, Timelines},
        engine::UnitOfWork,
    },
};

use uuid::Uuid;

use self::{
    applier::Applier,
    creators::{Creation, Creators},
    kind::Kind,
    names::Names,
};
pub use self::{batch_limit::BatchLimit, queue::Queue};
use crate::event::{ChainEvent, Collections, Fact};

/// Most events whose rows are read together.
const MAX_EVENTS: usize = 1_000;

/// Events after which the writes of the batch before get a turn.
const YIELD_EVERY: usize = 8;

/// Applies events of one chain.
pub struct Index {
    chain: Chain,
    moments: Moments,
    artists: Artists,
    documents: Documents,
    timelines: Timelines,
    /// Contracts that are never listed as admins.
    factories: Vec<Address>,
    /// Every collection of the chain; `None` until read.
    collections: Option<Collections>,
    /// Hidden moments of the chain, read along with the collections.
    hidden: HashMap<MomentRef, ArtistId>,
    /// What the operator hid, read along with the collections.
    withheld: Withheld,
    /// From when on creators are decided, in Unix seconds; read along with the collections.
    attributed_since: u64,
    /// Ends of decisions up to this time are followed, in Unix seconds.
    ended: u64,
}

impl Index {
    /// The index of `chain` in this table.
    pub fn new(chain: Chain, table: ChainTable, artists: Artists, factories: Vec<Address>) -> Self {
        let (moments, documents) = (Moments::new(table.clone()), Documents::new(table.clone()));
        let timelines = Timelines::new(table);
        let (collections, hidden, withheld) = (None, HashMap::new(), Withheld::default());
        Self {
            chain,
            moments,
            artists,
            documents,
            timelines,
            factories,
            collections,
            hidden,
            withheld,
            attributed_since: 0,
            ended: 0,
        }
    }

    /// Drops the cached collections, since some may be undone.
    pub fn forget(&mut self) {
        self.collections = None;
        self.ended = 0;
    }

    /// Reads the chain's collections from storage unless they are known. Returns them when they were read.
    pub async fn load(&mut self) -> Result<Option<&Collections>, StoreError> {
        if self.collections.is_some() {
            return Ok(None);
        }
        let stored = self.moments.collection_addresses(self.chain.id).await?;
        self.hidden = self.artists.hidden_moments(self.chain.id).await?;
        self.withheld = self.artists.withheld(now()).await?;
        self.attributed_since = self.artists.attributed_since(now()).await?;
        let stored = stored.into_iter().map(|(address, of)| (address.into(), of)).collect();
        Ok(Some(self.collections.insert(stored)))
    }

    /// Applies events of the queue in their order until the batch reaches its limit. After an error the unit of work must be
    /// dropped.
    pub async fn apply(
        &mut self,
        work: &mut UnitOfWork,
        queue: &mut Queue,
        limit: BatchLimit,
    ) -> Result<(), StoreError> {
        while !queue.is_empty() && !limit.is_reached(work) {
            let end = queue.events.len().min(queue.done + MAX_EVENTS);
            let events = &queue.events[queue.done..end];
            let Self { chain, artists, documents, factories, collections, hidden, withheld, attributed_since, .. } =
                self;
            let mut applier = Applier {
                names: Names::of(artists),
                creators: Creators::of(artists, *attributed_since),
                known: collections.get_or_insert_default(),
                content_types: HashMap::new(),
                again: HashMap::new(),
                collects: &queue.collects,
                chain,
                factories,
                hidden,
                withheld,
                work,
                documents,
                limit,
            };
            applier.names.learn(events.iter().filter_map(|event| event.fact.names()).map(Into::into)).await?;
            applier.queue_documents(events.iter().filter_map(named)).await?;
            prefetch(&mut applier, events).await?;
            for (number, event) in (1_usize..).zip(events) {
                if number.is_multiple_of(YIELD_EVERY) {
                    tokio::task::yield_now().await;
                }
                match event.fact.apply(event, &mut applier, queue.tokens).await? {
                    None => (queue.done, queue.tokens) = (queue.done + 1, 0),
                    Some(tokens) => queue.tokens = tokens,
                }
                if applier.is_full() {
                    break;
                }
            }
            applier.creators.keep().await?;
            applier.read_again().await?;
        }
        Ok(())
    }

    /// Hides a moment or shows it again, now or when it is created, as its row in the artist table says. One read.
    pub async fn set_hidden(&mut self, work: &mut UnitOfWork, place: &MomentRef) -> Result<(), StoreError> {
        let hidden_by = self.artists.hidden_by(place).await?;
        self.hidden.remove(place);
        self.hidden.extend(hidden_by.map(|artist| (*place, artist)));
        timeline::set_hidden(work, place, hidden_by).await
    }

    /// Decisions that ended by themselves since the last call, as changes to propagate.
    pub fn ended(&mut self) -> Vec<ArtistChanged> {
        let since = std::mem::replace(&mut self.ended, now());
        let changed = |subject| ArtistChanged {
            id: Uuid::now_v7(),
            artist_id: ArtistId::OPERATOR,
            change: ArtistChange::Decided { subject },
        };
        self.withheld.ended(since, self.ended).map(changed).collect()
    }

    /// Follows what the operator decided, in what there is and in what will be created. Several reads.
    pub async fn follow_decision(&mut self, work: &mut UnitOfWork, subject: &Subject) -> Result<(), StoreError> {
        self.withheld = self.artists.withheld(now()).await?;
        match *subject {
            Subject::Moment(place) if place.chain == self.chain.id => {
                timeline::withhold(work, &place, &self.withheld).await
            }
            Subject::Collection(chain, address) if chain == self.chain.id => {
                collection::withhold(work, chain, address, &self.withheld).await?;
                work.relist(chain, TimelineSubject::Of(address)).await
            }
            Subject::Comment(chain, comment) if chain == self.chain.id => {
                work.withhold_comment(chain, comment, self.withheld.has_comment(chain, comment)).await
            }
            Subject::Artist(account) => {
                let profile = self.artists.profile_of(account).await?;
                let wallets = profile.into_iter().flat_map(|profile| profile.wallets).map(|wallet| wallet.address);
                for wallet in BTreeSet::from_iter(wallets.chain([account])) {
                    work.relist(self.chain.id, TimelineSubject::By(wallet)).await?;
                    work.relist(self.chain.id, TimelineSubject::CollectionsOf(wallet)).await?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Attributes a collection to the artist who accepted it, and in their turn what was made with it. What was paid before
    /// stays whose it was. Several reads.
    pub async fn follow_acceptance(
        &mut self,
        work: &mut UnitOfWork,
        address: model::Address,
    ) -> Result<(), StoreError> {
        let Some(mut collection) = work.collection(self.chain.id, address).await? else { return Ok(()) };
        let Some((_, creator)) = self.artists.accepted(collection.id).await? else { return Ok(()) };
        if collection.creator != creator {
            collection.creator = creator;
            collection.is_withheld = self.withheld.has_collection(self.chain.id, address, creator);
            work.put_collection(&collection)?;
            work.list_for_creator(&collection).await?;
        }
        work.relist(self.chain.id, TimelineSubject::Of(address)).await
    }

    /// Reads again what the operator hid, if that names wallets of this artist, and has the collections of one that
    /// came or went follow: one that went may have been hidden by what was undone since. A few reads.
    pub async fn follow_wallets(
        &mut self,
        work: &mut UnitOfWork,
        artist: ArtistId,
        changed: Option<model::Address>,
    ) -> Result<(), StoreError> {
        if self.withheld.has_artist(artist) {
            self.withheld = self.artists.withheld(now()).await?;
        }
        match changed {
            Some(wallet) => work.relist(self.chain.id, TimelineSubject::CollectionsOf(wallet)).await,
            None => Ok(()),
        }
    }

    /// Applies background work up to a batch's limit: fetched documents and relistings. After an error the unit of work must be
    /// dropped.
    pub async fn apply_background(&mut self, work: &mut UnitOfWork, limit: BatchLimit) -> Result<(), StoreError> {
        timeline::apply_documents(work, &self.documents, self.chain.id, limit).await?;
        timeline::relist_due(work, &self.timelines, &self.artists, &self.withheld, self.chain.id, limit).await
    }
}

/// In Unix seconds; 0 if the clock is wrong, so that nothing ends.
fn now() -> u64 {
    clock::now().map_or(0, |now| now.as_secs())
}

/// Reads most of the rows that the events need, in batches.
async fn prefetch(applier: &mut Applier<'_>, events: &[ChainEvent]) -> Result<(), StoreError> {
    let keys: Vec<_> = events.iter().flat_map(|event| event.fact.reads(event, applier)).collect();
    applier.work.prefetch(keys).await?;
    let creations = creations(applier, events).await?;
    applier.creators.learn(&mut applier.names, &creations).await?;
    let mut admins = Vec::new();
    for emitter in BTreeSet::from_iter(events.iter().filter(|event| is_listed(event)).map(|event| event.emitter)) {
        let collection = applier.work.collection(applier.chain.id, emitter.into()).await?;
        admins.extend(collection.into_iter().flat_map(|collection| collection.admins));
    }
    applier.names.learn(admins).await?;
    let mut next = Vec::new();
    for event in events {
        next.extend(event.fact.reads_next(event, applier).await?);
    }
    applier.work.prefetch(next).await
}

/// What accounts create with these events, and name others as its creators. A collection that comes before in the events is
/// its sender's here.
async fn creations(applier: &mut Applier<'_>, events: &[ChainEvent]) -> Result<Vec<Creation>, StoreError> {
    let (mut creations, mut senders) = (Vec::new(), HashMap::<Address, model::Address>::new());
    for ChainEvent { emitter, at, fact, .. } in events {
        let (named, sender) = match fact {
            Fact::CollectionCreated(new) => {
                senders.insert(new.address, new.sender.into());
                (new.creator, Some(new.sender.into()))
            }
            Fact::MomentCreated(new) if new.is_named && !applier.factories.contains(&new.creator) => {
                let stored = applier.work.collection(applier.chain.id, (*emitter).into()).await?;
                let sender = stored.map(|collection| collection.creator);
                (new.creator, sender.or_else(|| senders.get(emitter).copied()))
            }
            _ => continue,
        };
        let creation = |sender| Creation { id: applier.id(at), named: named.into(), sender, time: at.time };
        creations.extend(sender.map(creation));
    }
    Ok(creations)
}

/// Whether it lists moments, by who their admins are.
fn is_listed(event: &ChainEvent) -> bool {
    matches!(event.fact, Fact::MomentCreated(_) | Fact::EditionMinted(_))
}

/// The document that an event names: a factory names that of the collection which it made.
fn named(event: &ChainEvent) -> Option<NamedDocument<'_>> {
    let uri = event.fact.uri()?;
    let collection = match &event.fact {
        Fact::CollectionCreated(new) => new.address,
        _ => event.emitter,
    };
    Some(NamedDocument { uri, collection: collection.into(), at: event.at.time })
}
