//! What pages show besides their own rows (moments, collections, documents, counts, usernames), read together.

use std::collections::{BTreeSet, HashMap};

use aws_sdk_dynamodb::types::KeysAndAttributes;
use futures::{StreamExt, TryStreamExt, stream};
use serde::Deserialize;

use crate::{
    aws::Dispatch,
    model::{Address, ChainId, Collection, Metadata, Moment, MomentRef, Previews},
    store::{
        artist::artists::wallet_key,
        chain::{
            comments::comment_count_key,
            metadata::{DocumentRow, document_key},
            moments::{collection_key, moment_key},
            previews::{PreviewsRow, previews_key},
        },
        engine::table::{ArtistTable, ChainTable, Item, MAX_READ, PrimaryKey, READS_AT_ONCE, StoreError, backoff},
    },
};

/// Reads rows of the chain table and of the artist table together.
#[derive(Clone)]
pub struct PageLookups {
    chain: ChainTable,
    artists: ArtistTable,
}

/// Rows to read, of one chain.
#[derive(Clone, Debug, Default)]
pub struct LookupKeys {
    /// Moments.
    pub moments: BTreeSet<MomentRef>,
    /// Collections, by address.
    pub collections: BTreeSet<Address>,
    /// Metadata documents with previews of their files, by [`crate::store::chain::Documents::uri_hash`] of their URI.
    pub documents: BTreeSet<String>,
    /// Moments whose top-level comments are counted.
    pub comments: BTreeSet<MomentRef>,
    /// Accounts whose usernames are shown.
    pub names: BTreeSet<Address>,
}

/// The rows that are there.
#[derive(Clone, Debug, Default)]
pub struct LookupRows {
    /// Moments.
    pub moments: HashMap<MomentRef, Moment>,
    /// Collections, by address.
    pub collections: HashMap<Address, Collection>,
    /// Fetched documents, by hash of their URI.
    pub documents: HashMap<String, Metadata>,
    /// Previews of documents' files, by hash of the document's URI.
    pub previews: HashMap<String, Previews>,
    /// Numbers of top-level comments; 0 is left out.
    pub comments: HashMap<MomentRef, u64>,
    /// Usernames, which may be empty; accounts of nobody are left out.
    pub names: HashMap<Address, String>,
}

enum Kind {
    Moment,
    Collection,
    Document,
    Previews,
    CommentsOn(MomentRef),
    Name,
}

#[derive(Deserialize)]
struct Length {
    length: u64,
}

#[derive(Deserialize)]
struct WalletName {
    address: Address,
    username: String,
}

impl PageLookups {
    /// Reads both tables as they are: eventually consistent ones for half the units.
    pub fn new(chain: ChainTable, artists: ArtistTable) -> Self {
        Self { chain, artists }
    }

    /// Returns the rows. One read per 100, in parallel.
    pub async fn read(&self, chain: ChainId, wanted: LookupKeys) -> Result<LookupRows, StoreError> {
        let kinds: HashMap<PrimaryKey, Kind> = wanted.by_key(chain).collect();
        let keys = Vec::from_iter(kinds.keys());
        let calls: Vec<_> = keys.chunks(MAX_READ).map(|keys| self.items(&kinds, keys)).collect();
        let items: Vec<Vec<Item>> = stream::iter(calls).buffer_unordered(READS_AT_ONCE).try_collect().await?;
        let mut rows = LookupRows::default();
        for item in items.into_iter().flatten() {
            let key: PrimaryKey = serde_dynamo::from_item(item.clone())?;
            if let Some(kind) = kinds.get(&key) {
                rows.add(kind, item)?;
            }
        }
        Ok(rows)
    }

    async fn items(&self, kinds: &HashMap<PrimaryKey, Kind>, keys: &[&PrimaryKey]) -> Result<Vec<Item>, StoreError> {
        let (names, others): (Vec<&PrimaryKey>, Vec<&PrimaryKey>) =
            keys.iter().copied().partition(|key| matches!(kinds.get(*key), Some(Kind::Name)));
        let mut pending = HashMap::new();
        for (table, keys) in [(&*self.artists, names), (&self.chain, others)] {
            if !keys.is_empty() {
                let wanted = KeysAndAttributes::builder().set_keys(Some(keys.iter().map(|key| key.item()).collect()));
                pending.insert(table.name.clone(), wanted.consistent_read(table.is_consistent()).build()?);
            }
        }
        let (mut found, mut attempt) = (Vec::new(), 0);
        while !pending.is_empty() {
            if attempt > 0 {
                tokio::time::sleep(backoff(attempt)).await;
            }
            let answer = self.chain.client.batch_get_item().set_request_items(Some(pending)).dispatch().await?;
            found.extend(answer.responses.into_iter().flat_map(HashMap::into_values).flatten());
            pending = answer.unprocessed_keys.unwrap_or_default();
            attempt += 1;
        }
        Ok(found)
    }
}

impl LookupKeys {
    fn by_key(self, chain: ChainId) -> impl Iterator<Item = (PrimaryKey, Kind)> {
        let moments = self.moments.into_iter().map(|moment| (moment_key(&moment), Kind::Moment));
        let collections =
            self.collections.into_iter().map(move |address| (collection_key(chain, address), Kind::Collection));
        let documents = self.documents.into_iter().flat_map(move |hash| {
            [(document_key(chain, &hash), Kind::Document), (previews_key(chain, &hash), Kind::Previews)]
        });
        let comments = self.comments.into_iter().map(|moment| (comment_count_key(&moment), Kind::CommentsOn(moment)));
        let names = self.names.into_iter().map(|account| (wallet_key(account), Kind::Name));
        moments.chain(collections).chain(documents).chain(comments).chain(names)
    }
}

impl LookupRows {
    fn add(&mut self, kind: &Kind, item: Item) -> Result<(), StoreError> {
        match kind {
            Kind::Moment => {
                let moment: Moment = serde_dynamo::from_item(item)?;
                self.moments.insert(moment.place(), moment);
            }
            Kind::Collection => {
                let collection: Collection = serde_dynamo::from_item(item)?;
                self.collections.insert(collection.address, collection);
            }
            Kind::Document => {
                let DocumentRow { uri_hash, document } = serde_dynamo::from_item(item)?;
                self.documents.extend(document.map(|document| (uri_hash, document)));
            }
            Kind::Previews => {
                let PreviewsRow { uri_hash, previews } = serde_dynamo::from_item(item)?;
                self.previews.insert(uri_hash, previews);
            }
            Kind::CommentsOn(moment) => {
                let Length { length } = serde_dynamo::from_item(item)?;
                self.comments.insert(*moment, length);
            }
            Kind::Name => {
                let WalletName { address, username } = serde_dynamo::from_item(item)?;
                self.names.insert(address, username);
            }
        }
        Ok(())
    }

    /// Adds the rows of another read.
    pub fn extend(&mut self, other: Self) {
        self.moments.extend(other.moments);
        self.collections.extend(other.collections);
        self.documents.extend(other.documents);
        self.previews.extend(other.previews);
        self.comments.extend(other.comments);
        self.names.extend(other.names);
    }
}
