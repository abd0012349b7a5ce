//! Lists of collections, in the table of what the chain can rebuild: numbered lists in the order of their creation.
//!
//! - `pk = COLLECTION_LIST#<chain>`: all of a chain;
//! - `pk = COLLECTION_LIST#<chain>#<creator>`: one creator's.

use serde::{Deserialize, Serialize};

use super::{
    Moments, StoreError, Table, Unit,
    numbered::{CountedPage, NumberedList},
};
use crate::model::{Address, ChainId, Collection};

/// All lists of collections.
#[derive(Clone)]
pub struct CollectionLists(Table);

/// Some collections of a list.
#[derive(Debug)]
pub struct CollectionPage {
    /// The collections, in the list's order.
    pub collections: Vec<Collection>,
    /// How many the list has.
    pub total: u64,
}

#[derive(Serialize, Deserialize)]
struct ListedCollection {
    address: Address,
}

impl CollectionLists {
    /// The lists in the chain's table.
    pub fn new(chain: Table) -> Self {
        Self(chain)
    }

    /// Collections of a chain, or of one creator there, newest first, from the `offset`th on. Two reads, and one for the
    /// collections themselves.
    ///
    /// # Errors
    /// When storage fails.
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

impl Unit {
    /// Adds a new collection at the end of its chain's and its creator's lists.
    ///
    /// # Errors
    /// When storage fails.
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
