//! Collections by time of creation. Rows: docs/data-model.md, Collections and moments.

use serde::{Deserialize, Serialize};

use super::metadata::Documents;
use crate::{
    model::{Address, ChainId, Collection},
    store::{
        chain::rows,
        engine::{
            index::UnitOfWork,
            structures::{
                merged::{self, NewestFirst},
                numbered_list::{CountedPage, NumberedList},
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
        let page: CountedPage<ListedCollection> = self.list.newest_counted(offset, limit).await?;
        let rows = page.rows.into_iter().map(|row| (self.chain, row)).collect();
        Ok(CountedPage { rows, total: page.total })
    }

    fn key(&self, (chain, collection): &Self::Row) -> Self::Key {
        (collection.created_at, *chain)
    }
}

impl CollectionLists {
    /// Uses the chain table.
    pub fn new(chain: ChainTable) -> Self {
        Self(chain)
    }

    /// Collections of chains, or of creators on them, newest first. Two reads a list, for the first page in parallel; more
    /// beyond the first hundred rows.
    pub async fn newest(
        &self,
        lists: &[(ChainId, Option<Address>)],
        offset: u64,
        limit: usize,
    ) -> Result<CollectionPage, StoreError> {
        let list = |(chain, creator): &(ChainId, Option<Address>)| OneList {
            chain: *chain,
            list: NumberedList { table: &self.0, partition: partition(*chain, *creator) },
        };
        let page = merged::newest(&Vec::from_iter(lists.iter().map(list)), offset, limit).await?;
        Ok(CollectionPage { total: page.total(), collections: page.rows })
    }
}

impl UnitOfWork {
    /// Appends a new collection to the lists of its chain and its creator.
    pub async fn list_collection(&mut self, collection: &Collection) -> Result<(), StoreError> {
        let document = Documents::uri_hash(&collection.uri);
        let listed = ListedCollection {
            address: collection.address,
            creator: collection.creator,
            document,
            created_at: collection.created_at,
        };
        for creator in [None, Some(collection.creator)] {
            self.append(&partition(collection.chain_id, creator), &listed).await?;
        }
        Ok(())
    }

    /// Contracts of a creator's collections. One read per 100 uncached rows.
    pub async fn collections_of(&mut self, chain: ChainId, creator: Address) -> Result<Vec<Address>, StoreError> {
        let (listed, _): (Vec<ListedCollection>, _) =
            self.numbered(&partition(chain, Some(creator)), 0, u64::MAX).await?;
        Ok(listed.into_iter().map(|listed| listed.address).collect())
    }
}

fn partition(chain: ChainId, creator: Option<Address>) -> String {
    match creator {
        Some(creator) => rows::collections_of_creator(chain, creator),
        None => rows::collections_of_chain(chain),
    }
}
