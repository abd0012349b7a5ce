//! Collections by time of creation. Rows: docs/data-model.md, Collections and moments.

use serde::{Deserialize, Serialize};

use super::{
    moments::Moments,
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
    pub collections: Vec<Collection>,
    /// Length of the list.
    pub total: u64,
}

#[derive(Serialize, Deserialize)]
struct ListedCollection {
    address: Address,
}

impl CollectionLists {
    /// Uses the chain table.
    pub fn new(chain: Table) -> Self {
        Self(chain)
    }

    /// Returns collections of a chain, or of one creator on it, newest first. Three reads.
    pub async fn newest(
        &self,
        chain: ChainId,
        creator: Option<Address>,
        offset: u64,
        limit: usize,
    ) -> Result<CollectionPage, StoreError> {
        let list = NumberedList { table: &self.0, partition: partition(chain, creator) };
        let page: CountedPage<ListedCollection> = list.newest_counted(offset, limit).await?;
        let addresses = page.rows.iter().map(|listed| listed.address);
        let mut found = Moments::new(self.0.clone()).collections(chain, addresses).await?;
        let collections = page.rows.iter().filter_map(|listed| found.remove(&listed.address)).collect();
        Ok(CollectionPage { collections, total: page.total })
    }
}

impl UnitOfWork {
    /// Appends a new collection to the lists of its chain and its creator.
    pub async fn list_collection(&mut self, collection: &Collection) -> Result<(), StoreError> {
        let listed = ListedCollection { address: collection.address };
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
