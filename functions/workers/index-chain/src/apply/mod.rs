//! Applies events to rows, in the order of the chain. One module per concern.

mod collection;
mod collects;
mod comment;
mod edition;
mod moment;
mod payment;
mod permission;
mod sale;
mod timeline;
mod transfer;

use std::collections::{BTreeSet, HashMap};

use alloy::primitives::{Address, U256};
use shared::{
    chain::Chain,
    model::{ContentType, EventId, MomentRef},
    store::{
        Artists, Documents, Moments, PaymentFilter, PrimaryKey, StoreError, Table, Timelines, UnitOfWork,
        collection_key, moment_key, moment_keys, split_key,
    },
};

use self::{collects::Collects, transfer::changes_supply};
use crate::{
    event::{ChainEvent, Fact, Position},
    read::Collections,
};

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
}

impl Index {
    /// The index of `chain` in this table.
    pub fn new(chain: Chain, table: Table, artists: Artists, factories: Vec<Address>) -> Self {
        let (moments, documents) = (Moments::new(table.clone()), Documents::new(table.clone()));
        let timelines = Timelines::new(table);
        Self { chain, moments, artists, documents, timelines, factories, collections: None }
    }

    /// Drops the cached collections, since some may be undone.
    pub fn forget(&mut self) {
        self.collections = None;
    }

    /// The chain's collections, read from storage at the first call.
    pub async fn collections(&mut self) -> Result<&mut Collections, StoreError> {
        if self.collections.is_none() {
            let stored = self.moments.collection_addresses(self.chain.id).await?;
            self.collections = Some(stored.into_iter().map(|(address, of)| (address.into(), of)).collect());
        }
        Ok(self.collections.get_or_insert_default())
    }

    /// Applies events in their order. After an error the unit of work must be dropped.
    pub async fn apply(&mut self, work: &mut UnitOfWork, events: Vec<ChainEvent>) -> Result<(), StoreError> {
        self.collections().await?;
        let Self { chain, artists, documents, factories, collections, .. } = self;
        let names = names(artists, &events).await?;
        let documents = documents.queue(chain.id, events.iter().filter_map(ChainEvent::uri)).await?;
        let content_types = documents.into_iter().filter_map(|(uri, document)| Some((uri, document.content_type()?)));
        let content_types = content_types.collect();
        let collects = Collects::among(&events);
        let known = collections.get_or_insert_default();
        let mut applier = Applier { chain, factories, known, work, names, content_types, collects };
        applier.prefetch(&events).await?;
        for event in &events {
            applier.apply(event).await?;
        }
        Ok(())
    }
}

impl Index {
    /// Applies a batch of background work: fetched documents and relistings. After an error the unit of work must be
    /// dropped.
    pub async fn apply_background(&mut self, work: &mut UnitOfWork) -> Result<(), StoreError> {
        timeline::apply_documents(work, &self.documents, self.chain.id).await?;
        timeline::relist_due(work, &self.timelines, &self.artists, self.chain.id).await
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
    work: &'a mut UnitOfWork,
    /// Usernames by wallet.
    names: HashMap<shared::model::Address, String>,
    /// Content types by URI, of documents that are fetched already.
    content_types: HashMap<&'a str, ContentType>,
    /// Pairs of purchases and transfers.
    collects: Collects,
}

impl Applier<'_> {
    async fn apply(&mut self, event: &ChainEvent) -> Result<(), StoreError> {
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
            Fact::PermissionsSet { token, account, is_admin, .. } => {
                self.permissions_set(at, emitter, *token, *account, *is_admin).await
            }
            Fact::RoyaltySet { token, royalty } => self.royalty_set(at, emitter, *token, *royalty).await,
            Fact::SaleSet { collection, token, sale, is_reset } => {
                self.sale_set(at, *collection, *token, sale, *is_reset).await
            }
            Fact::SplitCreated { split, recipients } => {
                self.work.put_split(self.chain.id, (*split).into(), recipients.clone())
            }
            Fact::Transferred { from, to, tokens, .. } => self.transferred(emitter, (*from, *to), tokens).await,
            Fact::EditionMinted { tier, quantity, first_token, .. } => {
                self.edition_minted(at, emitter, *tier, *quantity, *first_token).await
            }
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
                Fact::Transferred { from, to, tokens, .. } if changes_supply(*from, *to) => {
                    keys.push(collection_key(chain, event.emitter.into()));
                    keys.extend(tokens.iter().map(|(token, _)| moment_key(&on(event.emitter, *token))));
                }
                Fact::MomentCreated { token, sender, uri, .. } => {
                    let (moment, creator) = (on(event.emitter, *token), (*sender).into());
                    keys.extend(moment_keys(&moment));
                    keys.extend(shared::store::listing_keys(&moment, creator, event.protocol, uri));
                }
                _ => {}
            }
            keys.extend(self.comment_of(event).iter().flat_map(shared::store::NewComment::keys));
        }
        self.work.prefetch(keys).await?;
        let mut lists = Vec::new();
        for event in events {
            let Fact::Purchased(purchase) = &event.fact else { continue };
            let collection = self.work.collection(chain, purchase.collection.into()).await?;
            if let (Some(buyer), Some(collection)) = (self.collects.buyer(&event.at), collection) {
                lists.extend(PaymentFilter::of(collection.creator, buyer.account.into()).map(|of| of.key(chain)));
            }
        }
        self.work.prefetch(lists).await
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
