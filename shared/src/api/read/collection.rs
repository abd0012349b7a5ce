use std::collections::{BTreeSet, HashMap};

use futures::future::try_join_all;
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    metadata::MetadataView,
    page_size::{MAX_ADMINS_SHOWN, fitting},
    reader::{Person, ReadError, Reader},
    site::Site,
};
use crate::{
    clock::iso_8601,
    model::{Address, ChainId, Collection, EventId, Protocol, RoyaltyView},
    store::{
        across::{LookupKeys, LookupRows},
        chain::{Documents, ListedCollection},
    },
};

/// A collection.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Collection)]
pub struct CollectionView {
    /// Id of the collection at this service.
    pub id: EventId,
    /// Its contract.
    pub address: Address,
    /// Its chain.
    pub chain_id: ChainId,
    /// The collection's page for people.
    #[schema(format = "uri")]
    pub page: String,
    /// Empty without one, and if the operator hid it.
    pub name: String,
    /// Metadata URI; empty if the operator hid it.
    pub uri: String,
    /// Account that it was made for.
    pub creator: Person,
    /// Accounts with the admin permission on the whole collection, sorted; in lists the first 50.
    pub admins: Vec<Address>,
    /// ISO 8601.
    pub created_at: String,
    /// ISO 8601.
    pub updated_at: String,
    /// Its protocol.
    pub protocol: Protocol,
    /// Royalty on resale of tokens without one of their own; null without one.
    #[schema(required = true)]
    pub royalty: Option<RoyaltyView>,
    /// Null until fetched.
    #[schema(required = true)]
    pub metadata: Option<MetadataView>,
    /// Whether the operator hid it: lists then have its address alone.
    #[serde(skip)]
    pub is_withheld: bool,
}

impl Reader {
    /// The collection with this contract; `None` if there is none. Two reads.
    pub async fn collection(&self, chain: ChainId, contract: Address) -> Result<Option<CollectionView>, ReadError> {
        let keys = LookupKeys { collections: BTreeSet::from([contract]), ..LookupKeys::default() };
        let found = self.related.read(chain, keys).await?.collections.remove(&contract);
        let Some(collection) = found else { return Ok(None) };
        let keys = LookupKeys {
            documents: BTreeSet::from([Documents::uri_hash(&collection.uri)]),
            names: BTreeSet::from([collection.creator]),
            ..LookupKeys::default()
        };
        let rows = self.related.read(chain, keys).await?;
        CollectionView::new(&collection, &rows, &self.site).map(Some)
    }

    /// Views of collections. A read per chain and hundred rows, four a collection; one more for changed URIs.
    pub async fn collections(&self, listed: &[(ChainId, ListedCollection)]) -> Result<Vec<CollectionView>, ReadError> {
        let of = |chain: ChainId| listed.iter().filter(|it| it.0 == chain).map(|it| it.1.clone()).collect::<Vec<_>>();
        let chains: BTreeSet<ChainId> = listed.iter().map(|listed| listed.0).collect();
        let views = try_join_all(chains.into_iter().map(|chain| self.collections_of(chain, of(chain)))).await?;
        let mut views: HashMap<(ChainId, Address), CollectionView> =
            views.into_iter().flatten().map(|view| ((view.chain_id, view.address), view)).collect();
        Ok(listed.iter().filter_map(|(chain, listed)| views.remove(&(*chain, listed.address))).collect())
    }

    /// As many of these views as a page holds, and how many of the listed collections they stand for. Reads as
    /// [`Self::collections`].
    pub async fn collections_that_fit(
        &self,
        listed: &[(ChainId, ListedCollection)],
    ) -> Result<(Vec<CollectionView>, usize), ReadError> {
        let is_of = |view: &CollectionView, (chain, listed): &(ChainId, ListedCollection)| {
            (view.chain_id, view.address) == (*chain, listed.address)
        };
        fitting(self.collections(listed).await?, listed, is_of)
    }

    async fn collections_of(
        &self,
        chain: ChainId,
        listed: Vec<ListedCollection>,
    ) -> Result<Vec<CollectionView>, ReadError> {
        let keys = LookupKeys {
            collections: listed.iter().map(|listed| listed.address).collect(),
            documents: listed.iter().map(|listed| listed.document.clone()).collect(),
            names: listed.iter().map(|listed| listed.creator).collect(),
            ..LookupKeys::default()
        };
        let documents = keys.documents.clone();
        let mut rows = self.related.read(chain, keys).await?;
        let uris = rows.collections.values().map(|collection| collection.uri.as_str());
        let changed = self.other_documents(chain, uris, &documents).await?;
        rows.extend(changed);
        let collections = listed.iter().filter_map(|listed| rows.collections.get(&listed.address));
        let view = |collection: &Collection| {
            let mut view = CollectionView::new(collection, &rows, &self.site)?;
            view.admins.truncate(MAX_ADMINS_SHOWN);
            Ok(view)
        };
        collections.map(view).collect()
    }
}

impl CollectionView {
    fn new(collection: &Collection, rows: &LookupRows, site: &Site) -> Result<Self, ReadError> {
        let is_withheld = collection.is_withheld;
        let shown = |text: &str| if is_withheld { String::new() } else { text.to_owned() };
        Ok(Self {
            id: collection.id,
            address: collection.address,
            chain_id: collection.chain_id,
            page: site.collection(collection.chain_id, collection.address),
            name: shown(&collection.name),
            uri: shown(&collection.uri),
            creator: Person::named(collection.creator, &rows.names),
            admins: collection.admins.clone(),
            created_at: iso_8601(collection.created_at)?,
            updated_at: iso_8601(collection.updated_at)?,
            protocol: collection.protocol,
            royalty: collection.royalty.map(RoyaltyView::from),
            metadata: MetadataView::of(&collection.uri, rows, site).filter(|_| !is_withheld),
            is_withheld,
        })
    }
}
