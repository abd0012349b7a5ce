//! Collections and their moments, in the table of what the chain can rebuild.
//!
//! - `pk = COLLECTIONS#<chain>`, `sk = <address>`: a collection;
//! - `pk = MOMENTS#<chain>#<collection>`, `sk = <token id, 78 digits>`: a moment, in the order of token ids.

use serde::{Deserialize, Serialize};

use super::{Key, StoreError, Table, row, text, unless_refused};
use crate::model::{Address, ChainId, Collection, Moment};

/// All collections and moments.
#[derive(Clone)]
pub struct Moments(Table);

#[derive(Deserialize)]
struct CollectionAddress {
    sk: Address,
}

impl Moments {
    /// The collections and moments in the chain's table.
    pub fn new(chain: Table) -> Self {
        Self(chain)
    }

    /// Keeps a collection as it was created; one that is known already stays as it is.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn add_collection(&self, collection: &Collection) -> Result<(), StoreError> {
        let key = Key::new(collections_partition(collection.chain_id), collection.address.to_string());
        self.add(&key, collection).await
    }

    /// Keeps a moment as it was created; one that is known already stays as it is.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn add_moment(&self, moment: &Moment) -> Result<(), StoreError> {
        let partition = format!("MOMENTS#{}#{}", moment.chain_id, moment.collection);
        let digits = moment.token_id.to_string();
        self.add(&Key::new(partition, format!("{digits:0>78}")), moment).await
    }

    /// Every collection of a chain. Grows with the chain: for the indexer's start alone, never for a request.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn collection_addresses(&self, chain: ChainId) -> Result<Vec<Address>, StoreError> {
        let call = self
            .0
            .client
            .query()
            .table_name(&self.0.name)
            .key_condition_expression("pk = :collections")
            .expression_attribute_values(":collections", text(collections_partition(chain)))
            .projection_expression("sk")
            .consistent_read(true);
        let items = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await?;
        let rows: Vec<CollectionAddress> = serde_dynamo::from_items(items)?;
        Ok(rows.into_iter().map(|row| row.sk).collect())
    }

    async fn add(&self, key: &Key, fields: &impl Serialize) -> Result<(), StoreError> {
        let call = self.0.client.put_item().table_name(&self.0.name).set_item(Some(row(key, fields)?));
        unless_refused(call.condition_expression("attribute_not_exists(pk)").send().await)?;
        Ok(())
    }
}

fn collections_partition(chain: ChainId) -> String {
    format!("COLLECTIONS#{chain}")
}
