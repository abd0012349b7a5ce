//! Collections that the service's transactions made or were about: known before the index has their blocks, and while it
//! is built anew.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    model::{Address, ChainId},
    store::{
        artist::rows,
        engine::table::{ArtistTable, StoreError},
    },
};

/// Most rows of a write.
const MAX_ROWS: usize = 100;

/// All of them.
#[derive(Clone)]
pub struct MadeCollections(ArtistTable);

#[derive(Serialize, Deserialize)]
struct MadeCollection {}

impl MadeCollections {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self(artists)
    }

    /// Whether a transaction of the service's made it or was about it. One read.
    pub async fn contains(&self, chain: ChainId, collection: Address) -> Result<bool, StoreError> {
        let row: Option<MadeCollection> = self.0.get(&rows::made_collection(chain, collection)).await?;
        Ok(row.is_some())
    }

    /// Adds some. One write per 100.
    pub async fn add(&self, chain: ChainId, collections: BTreeSet<Address>) -> Result<(), StoreError> {
        let made =
            |collection: &Address| self.0.replacement(&rows::made_collection(chain, *collection), &MadeCollection {});
        let writes = collections.iter().map(made).collect::<Result<Vec<_>, _>>()?;
        for writes in writes.chunks(MAX_ROWS) {
            self.0.write_together(writes.to_vec()).await?;
        }
        Ok(())
    }
}
