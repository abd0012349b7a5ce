//! Collections by time of creation. Rows: docs/data-model.md, Collections and moments.

use serde::{Deserialize, Serialize};

use super::metadata::Documents;
use crate::{
    model::{Address, ChainId, Collection, PageStart},
    store::{
        chain::rows,
        engine::{
            index::UnitOfWork,
            structures::{
                merged::{self, NewestFirst, Numbered, Rest},
                numbered_list::{CountedPage, ListStart, NumberedList},
            },
            table::{ChainTable, StoreError},
        },
    },
};

/// Lists of collections.
#[derive(Clone)]
pub struct CollectionLists(ChainTable);

/// A page of a list.
#[derive(Debug)]
pub struct CollectionPage {
    /// Collections, newest first.
    pub collections: Vec<(ChainId, ListedCollection)>,
    /// Length of the list.
    pub total: u64,
    /// What comes after them.
    pub rest: Rest,
}

/// A collection in a list, with what else to read for showing it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedCollection {
    /// Its contract.
    pub address: Address,
    /// Account that created it.
    pub creator: Address,
    /// [`Documents::uri_hash`] of its first URI.
    pub document: String,
    /// Creation time, in Unix seconds.
    pub created_at: u64,
}

struct OneList<'a> {
    chain: ChainId,
    list: NumberedList<'a>,
}

impl NewestFirst for OneList<'_> {
    type Row = (ChainId, ListedCollection);
    type Key = (u64, ChainId);

    async fn newest(&self, offset: u64, limit: usize) -> Result<CountedPage<Self::Row>, StoreError> {
        self.counted(ListStart::Offset(offset), limit).await
    }

    fn key(&self, (chain, collection): &Self::Row) -> Self::Key {
        (collection.created_at, *chain)
    }
}

impl Numbered for OneList<'_> {
    async fn oldest(&self, end: u64, limit: usize) -> Result<CountedPage<Self::Row>, StoreError> {
        self.counted(ListStart::End(end), limit).await
    }
}

impl OneList<'_> {
    async fn counted(
        &self,
        start: ListStart,
        limit: usize,
    ) -> Result<CountedPage<<Self as NewestFirst>::Row>, StoreError> {
        let CountedPage { rows, total, end } = self.list.counted::<ListedCollection>(start, limit).await?;
        Ok(CountedPage { rows: rows.into_iter().map(|row| (self.chain, row)).collect(), total, end })
    }
}

impl CollectionLists {
    /// Uses the chain table.
    pub fn new(chain: ChainTable) -> Self {
        Self(chain)
    }

    /// Collections of chains, or of creators on them, newest first; `None` if the page before was of others. Two reads a list,
    /// for the first page and those after another in parallel; more beyond the first hundred rows.
    pub async fn starting_at(
        &self,
        lists: &[(ChainId, Option<Address>)],
        start: &PageStart,
    ) -> Result<Option<CollectionPage>, StoreError> {
        let list = |(chain, creator): &(ChainId, Option<Address>)| OneList {
            chain: *chain,
            list: NumberedList { table: &self.0, partition: partition(*chain, *creator) },
        };
        let page = merged::starting_at(&Vec::from_iter(lists.iter().map(list)), start).await?;
        Ok(page.map(|page| CollectionPage { total: page.total(), collections: page.rows, rest: page.rest }))
    }
}

impl UnitOfWork {
    /// Appends a new collection to the lists of its chain and its creator.
    pub async fn list_collection(&mut self, collection: &Collection) -> Result<(), StoreError> {
        self.append_to(collection, None).await?;
        self.list_for_creator(collection).await
    }

    /// Appends a collection to the list of its creator.
    pub async fn list_for_creator(&mut self, collection: &Collection) -> Result<(), StoreError> {
        self.append_to(collection, Some(collection.creator)).await
    }

    async fn append_to(&mut self, collection: &Collection, creator: Option<Address>) -> Result<(), StoreError> {
        let document = Documents::uri_hash(&collection.uri);
        let listed = ListedCollection {
            address: collection.address,
            creator: collection.creator,
            document,
            created_at: collection.created_at,
        };
        self.append(&partition(collection.chain_id, creator), &listed).await.map(drop)
    }
}

fn partition(chain: ChainId, creator: Option<Address>) -> String {
    match creator {
        Some(creator) => rows::collections_of_creator(chain, creator),
        None => rows::collections_of_chain(chain),
    }
}
