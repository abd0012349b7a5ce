//! Search index of usernames, with a partition per first character. Rows: docs/data-model.md, Artists.

use aws_sdk_dynamodb::types::TransactWriteItem;
use serde::{Deserialize, Serialize};

use crate::{
    aws::Dispatch,
    model::{Address, FoldedName},
    store::{
        artist::rows,
        engine::table::{ArtistTable, PrimaryKey, StoreError, text},
    },
};

/// An artist in search results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedArtist {
    /// The artist's embedded wallet.
    pub address: Address,
    /// Username as the artist writes it; never empty.
    pub username: String,
}

/// Search index.
#[derive(Clone)]
pub struct Search(ArtistTable);

impl Search {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self(artists)
    }

    /// Returns up to `limit` artists by prefix, in the order of their folded names. One Query.
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
        Ok(serde_dynamo::from_items(call.dispatch().await?.items.unwrap_or_default())?)
    }
    /// Returns one or two unconditional writes that replace the entry of `before` with `after`.
    pub fn relist(
        &self,
        before: Option<&str>,
        after: Option<&ListedArtist>,
    ) -> Result<Vec<TransactWriteItem>, StoreError> {
        let old = before.map(|name| search_key(&FoldedName::of(name)));
        let new = after.map(|artist| (search_key(&FoldedName::of(&artist.username)), artist));
        let mut writes = Vec::new();
        // A transaction may not write a row twice: a change of case keeps the row.
        if let Some(old) = old.filter(|old| new.as_ref().is_none_or(|(key, _)| key != old)) {
            writes.push(self.0.deletion(&old)?);
        }
        if let Some((key, artist)) = new {
            writes.push(self.0.replacement(&key, artist)?);
        }
        Ok(writes)
    }
}

fn search_key(name: &FoldedName) -> PrimaryKey {
    let first: String = name.as_str().chars().take(1).collect();
    rows::searched_name(&first, name.as_str())
}
