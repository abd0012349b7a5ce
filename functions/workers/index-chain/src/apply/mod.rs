//! Applies events to rows, in the order of the chain. One module per concern.

mod collection;
mod collects;
mod comment;
mod edition;
mod moment;
mod payment;
mod permission;
mod sale;
mod tell;
mod timeline;
mod transfer;

use std::collections::{BTreeSet, HashMap};

use alloy::primitives::{Address, U256};
use shared::{
    chain::Chain,
    model::{ArtistId, ContentType, EventId, MomentRef},
    store::{
        StoreError,
        artist::Artists,
        chain::{ChainTable, Documents, Moments, Timelines, collection_key, moment_key, moment_keys, split_key},
        engine::{BlockId, EventPlace, PrimaryKey, UnitOfWork},
    },
};

use self::{collects::Collects, edition::MintedTokens};
use crate::{
    event::{ChainEvent, Fact, Position},
    read::Collections,
};

/// Most events whose rows are read together.
const MAX_EVENTS: usize = 1_000;

/// Events after which the writes of the batch before get a turn.
const YIELD_EVERY: usize = 8;

/// Most tokens of one event whose rows are read together with those of other events.
const FEW_TOKENS: usize = 20;

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
}

/// Most changed rows and bytes of a batch. The last event, or part of one, may exceed them a little.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    pub rows: usize,
    pub bytes: usize,
}

/// Events of a range, and how many of them are applied.
#[derive(Default)]
pub struct Queue {
    events: Vec<ChainEvent>,
    collects: Collects,
    /// Number of events that are applied.
    done: usize,
    /// Number of the next event's tokens that are applied.
    tokens: u64,
}

impl Queue {
    /// A range's events, without those before a place in its first block.
    pub fn of(events: Vec<ChainEvent>, first: u64, from: Option<EventPlace>) -> Self {
        let start = from.map(|place| (first, EventPlace { tokens: 0, ..place }));
        let done = start.map_or(0, |start| events.partition_point(|event| event.order() < start));
        let is_begun = events.get(done).is_some_and(|event| Some(event.order()) == start);
        let tokens = from.filter(|_| is_begun).map_or(0, |place| place.tokens);
        Self { collects: Collects::among(&events), events, done, tokens }
    }

    pub fn is_empty(&self) -> bool {
        self.done == self.events.len()
    }

    pub fn done(&self) -> usize {
        self.done
    }

    /// The last block that is applied, at least in part, and where the rest of it begins. `None` once all is applied.
    pub fn reached(&self) -> Option<(BlockId, Option<EventPlace>)> {
        let next = self.events.get(self.done)?;
        let (block, place) = next.order();
        let before = self.done.checked_sub(1).and_then(|last| self.events.get(last));
        match before.filter(|before| self.tokens == 0 && before.at.block < block) {
            Some(before) => Some((before.block(), None)),
            None => Some((next.block(), Some(EventPlace { tokens: self.tokens, ..place }))),
        }
    }
}

impl Index {
    /// The index of `chain` in this table.
    pub fn new(chain: Chain, table: ChainTable, artists: Artists, factories: Vec<Address>) -> Self {
        let (moments, documents) = (Moments::new(table.clone()), Documents::new(table.clone()));
        let timelines = Timelines::new(table);
        Self { chain, moments, artists, documents, timelines, factories, collections: None, hidden: HashMap::new() }
    }

    /// Drops the cached collections, since some may be undone.
    pub fn forget(&mut self) {
        self.collections = None;
    }

    /// Reads the chain's collections from storage unless they are known. Returns them when they were read.
    pub async fn load(&mut self) -> Result<Option<&Collections>, StoreError> {
        if self.collections.is_some() {
            return Ok(None);
        }
        let stored = self.moments.collection_addresses(self.chain.id).await?;
        self.hidden = self.artists.hidden_moments(self.chain.id).await?;
        let stored = stored.into_iter().map(|(address, of)| (address.into(), of)).collect();
        Ok(Some(self.collections.insert(stored)))
    }

    /// Applies events of the queue in their order while there is room. After an error the unit of work must be dropped.
    pub async fn apply(&mut self, work: &mut UnitOfWork, queue: &mut Queue, room: Room) -> Result<(), StoreError> {
        while !queue.is_empty() && !room.is_taken(work) {
            let end = queue.events.len().min(queue.done + MAX_EVENTS);
            let events = &queue.events[queue.done..end];
            let Self { chain, artists, documents, factories, collections, hidden, .. } = self;
            let names = names(artists, events).await?;
            let known = collections.get_or_insert_default();
            let (collects, content_types) = (&queue.collects, HashMap::new());
            let mut applier = Applier {
                chain,
                factories,
                known,
                hidden,
                work,
                artists,
                documents,
                names,
                content_types,
                collects,
                room,
            };
            applier.queue(events.iter().filter_map(ChainEvent::uri)).await?;
            applier.prefetch(events).await?;
            for (number, event) in (1_usize..).zip(events) {
                if number.is_multiple_of(YIELD_EVERY) {
                    tokio::task::yield_now().await;
                }
                match applier.apply(event, queue.tokens).await? {
                    None => (queue.done, queue.tokens) = (queue.done + 1, 0),
                    Some(tokens) => queue.tokens = tokens,
                }
                if applier.is_full() {
                    break;
                }
            }
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

    /// Applies a batch of background work: fetched documents and relistings. After an error the unit of work must be
    /// dropped.
    pub async fn apply_background(&mut self, work: &mut UnitOfWork) -> Result<(), StoreError> {
        timeline::apply_documents(work, &self.documents, self.chain.id).await?;
        timeline::relist_due(work, &self.timelines, &self.artists, self.chain.id).await
    }
}

impl Room {
    /// Whether the changes take all of it.
    pub fn is_taken(self, work: &UnitOfWork) -> bool {
        let weight = work.weight();
        weight.rows >= self.rows || weight.bytes >= self.bytes || work.has_told_enough()
    }
}

/// Usernames of those who comment or create in these events.
async fn names(
    artists: &Artists,
    events: &[ChainEvent],
) -> Result<HashMap<shared::model::Address, String>, StoreError> {
    let named = |event: &ChainEvent| match &event.fact {
        Fact::CollectionCreated(new) => Some(new.creator),
        Fact::MintCommented { sender, .. } | Fact::MomentCreated { sender, .. } => Some(*sender),
        Fact::Commented(said) => Some(said.sender),
        _ => None,
    };
    let accounts: BTreeSet<_> = events.iter().filter_map(named).map(Into::into).collect();
    artists.usernames(&Vec::from_iter(accounts)).await
}

/// Applies one batch of events.
struct Applier<'a> {
    chain: &'a Chain,
    factories: &'a [Address],
    known: &'a mut Collections,
    hidden: &'a HashMap<MomentRef, ArtistId>,
    work: &'a mut UnitOfWork,
    artists: &'a Artists,
    documents: &'a Documents,
    /// Usernames by wallet.
    names: HashMap<shared::model::Address, String>,
    /// Content types by URI, of documents that are fetched already.
    content_types: HashMap<String, ContentType>,
    /// Pairs of purchases and transfers.
    collects: &'a Collects,
    room: Room,
}

impl Applier<'_> {
    /// Applies an event, or its tokens from number `done` on while there is room. Returns the number of the first token
    /// that is left.
    async fn apply(&mut self, event: &ChainEvent, done: u64) -> Result<Option<u64>, StoreError> {
        match &event.fact {
            Fact::Transferred { from, to, tokens, .. } => self.transferred(event, (*from, *to), tokens, done).await,
            Fact::EditionMinted { tier, quantity, first_token, .. } => {
                let (collection, tier, quantity, first_token) = (event.emitter, *tier, *quantity, *first_token);
                let minted = MintedTokens { collection, tier, quantity, first_token };
                self.edition_minted(&event.at, &minted, done).await
            }
            _ => self.apply_whole(event).await.map(|()| None),
        }
    }

    async fn apply_whole(&mut self, event: &ChainEvent) -> Result<(), StoreError> {
        let (at, emitter) = (&event.at, event.emitter);
        match &event.fact {
            Fact::CollectionCreated(new) => self.collection_created(at, event.protocol, new).await,
            Fact::CollectionChanged { name, uri } => {
                self.collection_changed(at, emitter, name.as_deref(), uri.as_deref()).await
            }
            Fact::MomentCreated { token, sender, uri, max_supply } => {
                self.moment_created(at, emitter, *token, *sender, uri, *max_supply).await
            }
            Fact::UriSet { token, uri } => self.uri_set(at, emitter, *token, uri).await,
            Fact::PermissionsSet { token, account, mask, is_admin } => {
                self.permissions_set(at, emitter, (*token, *account), *mask, *is_admin).await
            }
            Fact::RoyaltySet { token, royalty } => self.royalty_set(at, emitter, *token, *royalty).await,
            Fact::SaleSet { collection, token, sale, is_reset } => {
                self.sale_set(at, *collection, *token, sale, *is_reset).await
            }
            Fact::SplitCreated { split, recipients } => {
                self.work.put_split(self.chain.id, (*split).into(), recipients.clone())
            }
            Fact::Transferred { .. } | Fact::EditionMinted { .. } => Ok(()),
            Fact::TierUriSet { collection, tier, uri } => self.tier_uri_set(*collection, *tier, uri).await,
            Fact::Purchased(purchase) => self.purchased(at, purchase).await,
            Fact::MintCommented { .. } | Fact::Commented(_) => self.commented(event).await,
            Fact::Sparked { comment, quantity } => {
                self.work.add_sparks(self.chain.id, (*comment).into(), quantity.saturating_to()).await
            }
        }
    }

    /// Reads most of the rows that the events need, in batches.
    async fn prefetch(&mut self, events: &[ChainEvent]) -> Result<(), StoreError> {
        let chain = self.chain.id;
        let mut keys: Vec<PrimaryKey> = Vec::new();
        for event in events {
            let on = |collection: Address, token: U256| self.place(collection, token);
            match &event.fact {
                Fact::CollectionCreated(new) => keys.push(collection_key(chain, new.address.into())),
                Fact::SaleSet { collection, token, sale, .. } => {
                    keys.push(moment_key(&on(*collection, *token)));
                    keys.extend(sale.funds_recipient.map(|recipient| split_key(chain, recipient)));
                }
                Fact::UriSet { token, .. } | Fact::PermissionsSet { token, .. } | Fact::RoyaltySet { token, .. } => {
                    keys.push(moment_key(&on(event.emitter, *token)));
                }
                Fact::Transferred { from, to, tokens, .. } if from != to => {
                    keys.push(collection_key(chain, event.emitter.into()));
                    // Longer lists read their rows in parts.
                    let few = tokens.iter().filter(|(_, quantity)| !quantity.is_zero()).take(FEW_TOKENS);
                    keys.extend(few.map(|(token, _)| moment_key(&on(event.emitter, *token))));
                }
                Fact::Purchased(purchase) => keys.push(moment_key(&on(purchase.collection, purchase.token))),
                Fact::EditionMinted { .. } => keys.push(collection_key(chain, event.emitter.into())),
                Fact::MomentCreated { token, sender, uri, .. } => {
                    let (moment, creator) = (on(event.emitter, *token), (*sender).into());
                    keys.extend(moment_keys(&moment));
                    keys.extend(shared::store::chain::listing_keys(&moment, creator, event.protocol, uri));
                }
                _ => {}
            }
            if let Some(new) = self.comment_of(event) {
                keys.push(collection_key(chain, new.moment.collection));
                keys.extend(new.keys());
            }
        }
        self.work.prefetch(keys).await?;
        let mut lists = Vec::new();
        for event in events {
            let Fact::Purchased(purchase) = &event.fact else { continue };
            lists.extend(self.purchase_keys(&event.at, purchase).await?);
        }
        self.work.prefetch(lists).await
    }

    /// Queues documents of these URIs to be fetched, and learns the content types of those that are fetched already.
    async fn queue(&mut self, uris: impl Iterator<Item = &str>) -> Result<(), StoreError> {
        let documents = self.documents.queue(self.chain.id, uris).await?;
        let types =
            documents.into_iter().filter_map(|(uri, document)| Some((uri.to_owned(), document.content_type()?)));
        self.content_types.extend(types);
        Ok(())
    }

    /// Learns an account's username.
    async fn name(&mut self, account: shared::model::Address) -> Result<(), StoreError> {
        if !self.names.contains_key(&account) {
            self.names.extend(self.artists.usernames(&[account]).await?);
            self.names.entry(account).or_default();
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.room.is_taken(self.work)
    }

    fn knows(&self, collection: Address) -> bool {
        self.known.contains_key(&collection)
    }

    fn place(&self, collection: Address, token: U256) -> MomentRef {
        MomentRef { chain: self.chain.id, collection: collection.into(), token: token.into() }
    }

    fn id(&self, at: &Position) -> EventId {
        EventId::new(self.chain.id, at.transaction, at.log_index)
    }
}
