//! Collections by time of creation. Rows: docs/data-model.md, Collections and moments.

use serde::{Deserialize, Serialize};

use super::{
    metadata::Documents,
    structures::numbered_list::{CountedPage, NumberedList},
    table::{StoreError, Table},
};
use crate::{
    model::{Address, ChainId, Collection},
    store::index::UnitOfWork,
};

/// Lists of collections.
#[derive(Clone)]
pub struct CollectionLists(Table);

/// A page of a list.
#[derive(Debug)]
pub struct CollectionPage {
    /// Collections, newest first.
    pub collections: Vec<ListedCollection>,
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
}

impl CollectionLists {
    /// Uses the chain table.
    pub fn new(chain: Table) -> Self {
        Self(chain)
    }

    /// Collections of a chain, or of one creator on it, newest first. Two reads, for the first page in parallel.
    pub async fn newest(
        &self,
        chain: ChainId,
        creator: Option<Address>,
        offset: u64,
        limit: usize,
    ) -> Result<CollectionPage, StoreError> {
        let list = NumberedList { table: &self.0, partition: partition(chain, creator) };
        let page: CountedPage<ListedCollection> = list.newest_counted(offset, limit).await?;
        Ok(CollectionPage { collections: page.rows, total: page.total })
    }
}

impl UnitOfWork {
    /// Appends a new collection to the lists of its chain and its creator.
    pub async fn list_collection(&mut self, collection: &Collection) -> Result<(), StoreError> {
        let document = Documents::uri_hash(&collection.uri);
        let listed = ListedCollection { address: collection.address, creator: collection.creator, document };
        for creator in [None, Some(collection.creator)] {
            self.append(&partition(collection.chain_id, creator), &listed).await?;
        }
        Ok(())
    }
}

fn partition(chain: ChainId, creator: Option<Address>) -> String {
    match creator {
        Some(creator) => format!("COLLECTION_LIST#{chain}#{creator}"),
        None => format!("COLLECTION_LIST#{chain}"),
    }
}
