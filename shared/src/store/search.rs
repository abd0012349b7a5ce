//! Artists by the beginning of their names, in the table of what the chain can't rebuild.
//!
//! `pk = SEARCH#<first character of the folded name>`, `sk = <folded name>`: an artist who has a name. Whatever a name
//! begins with, the names that do so stand together: a search is one Query, and no partition holds all names.

use aws_sdk_dynamodb::types::{Delete, Put, TransactWriteItem};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Key, StoreError, Table, row, text};
use crate::model::{Address, FoldedName};

/// An artist as a search shows them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ListedArtist {
    /// The account that the service keeps for them.
    pub address: Address,
    /// Their name, as they write it; never empty.
    pub username: String,
}

/// All artists who have a name.
#[derive(Clone)]
pub struct Search(Table);

impl Search {
    /// The index in the artists' table.
    pub fn new(artists: Table) -> Self {
        Self(artists)
    }

    /// The first `limit` artists whose names begin with this, in the order of their folded names. One Query of as many
    /// items.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn by_beginning(&self, beginning: &FoldedName, limit: u32) -> Result<Vec<ListedArtist>, StoreError> {
        let key = search_key(beginning);
        let call = self
            .0
            .client
            .query()
            .table_name(&self.0.name)
            .key_condition_expression("pk = :first AND begins_with(sk, :beginning)")
            .expression_attribute_values(":first", text(key.pk))
            .expression_attribute_values(":beginning", text(key.sk))
            .limit(limit.try_into().unwrap_or(i32::MAX));
        Ok(serde_dynamo::from_items(call.send().await?.items.unwrap_or_default())?)
    }
    /// The writes, two at most, that make an artist be found as `after` where they were found under the name `before`.
    /// They have no conditions: whose a name is, the transaction that they join must make sure of by itself.
    ///
    /// # Errors
    /// When a row can't be written down, which is a fault of ours.
    pub fn relist(
        &self,
        before: Option<&str>,
        after: Option<&ListedArtist>,
    ) -> Result<Vec<TransactWriteItem>, StoreError> {
        let old = before.map(|name| search_key(&FoldedName::of(name)));
        let new = after.map(|artist| (search_key(&FoldedName::of(&artist.username)), artist));
        let mut writes = Vec::new();
        // One transaction may not name a row twice: a name that only changes its case keeps its row.
        if let Some(old) = old.filter(|old| new.as_ref().is_none_or(|(key, _)| key != old)) {
            let delete = Delete::builder().table_name(&self.0.name).set_key(Some(old.item())).build()?;
            writes.push(TransactWriteItem::builder().delete(delete).build());
        }
        if let Some((key, artist)) = new {
            let put = Put::builder().table_name(&self.0.name).set_item(Some(row(&key, artist)?)).build()?;
            writes.push(TransactWriteItem::builder().put(put).build());
        }
        Ok(writes)
    }
}

fn search_key(name: &FoldedName) -> Key {
    let first: String = name.as_str().chars().take(1).collect();
    Key::new(format!("SEARCH#{first}"), name.as_str())
}
