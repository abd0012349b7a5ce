//! Names where they stand. Most answers look names up; comments carry them, so that a page is one Query, and so they
//! must be rewritten when an artist gets another name.
//!
//! - `pk = NAMED#<chain>#<wallet>`, `sk = <comment id, or row id without one>`: that a comment shows the wallet's name;
//! - `pk = CHANGES#<chain>`, `sk = <UUID v7>`: a change of an artist that isn't carried through the chain's rows yet, and
//!   how far it is.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{ArtistChanged, Key, StoreError, Unit, text};
use crate::model::{Address, ChainId};

/// A change of an artist that is being carried through a chain's rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedChange {
    /// The change.
    #[serde(flatten)]
    pub change: ArtistChanged,
    /// The last place that was rewritten.
    pub reached: Option<NamedPlace>,
}

/// A place where a wallet's name stands. Ordered by wallets, then by places.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NamedPlace {
    /// Whose name.
    pub wallet: Address,
    /// The comment.
    pub comment: String,
}

#[derive(Serialize)]
struct NamedRow {}

#[derive(Deserialize)]
struct PlaceKey {
    sk: String,
}

/// The row of a change, without its key.
#[derive(Serialize)]
struct ChangeRow<'a> {
    artist_id: crate::model::ArtistId,
    #[serde(flatten)]
    change: super::ArtistChange,
    reached: &'a Option<NamedPlace>,
}

impl Unit {
    /// Remembers that a comment shows its sender's name.
    pub(super) fn add_name(&mut self, chain: ChainId, wallet: Address, comment: &str) -> Result<(), StoreError> {
        self.insert(&Key::new(named_partition(chain, wallet), comment), &NamedRow {})
    }

    /// Places where a wallet's name stands, after the one given: `limit` at most. One Query.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn named_places(
        &mut self,
        chain: ChainId,
        wallet: Address,
        after: Option<&str>,
        limit: u16,
    ) -> Result<Vec<NamedPlace>, StoreError> {
        let call = self
            .table()
            .client
            .query()
            .table_name(&self.table().name)
            .key_condition_expression("pk = :names AND sk > :after")
            .expression_attribute_values(":names", text(named_partition(chain, wallet)))
            // Every place sorts after a space, and no key may be empty.
            .expression_attribute_values(":after", text(after.unwrap_or(" ")))
            .limit(limit.into())
            .consistent_read(true);
        let keys: Vec<PlaceKey> = serde_dynamo::from_items(call.send().await?.items.unwrap_or_default())?;
        Ok(keys.into_iter().map(|key| NamedPlace { wallet, comment: key.sk }).collect())
    }

    /// Keeps a change to be carried, and how far it is.
    ///
    /// # Errors
    /// When it can't be written as a row.
    pub fn put_change(&mut self, chain: ChainId, carried: &CarriedChange) -> Result<(), StoreError> {
        let CarriedChange { change: ArtistChanged { id, artist_id, change }, reached } = carried;
        let row = ChangeRow { artist_id: *artist_id, change: *change, reached };
        self.put(&change_key(chain, *id), &row)
    }

    /// Forgets a change that was carried to every place.
    pub fn remove_change(&mut self, chain: ChainId, id: Uuid) {
        self.delete(&change_key(chain, id));
    }

    /// The oldest change that is to be carried, as it was last committed. One Query.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn oldest_change(&mut self, chain: ChainId) -> Result<Option<CarriedChange>, StoreError> {
        let call = self
            .table()
            .client
            .query()
            .table_name(&self.table().name)
            .key_condition_expression("pk = :changes")
            .expression_attribute_values(":changes", text(changes_partition(chain)))
            .limit(1)
            .consistent_read(true);
        let items = call.send().await?.items.unwrap_or_default();
        Ok(serde_dynamo::from_items(items)?.pop())
    }
}

fn named_partition(chain: ChainId, wallet: Address) -> String {
    format!("NAMED#{chain}#{wallet}")
}

fn changes_partition(chain: ChainId) -> String {
    format!("CHANGES#{chain}")
}

fn change_key(chain: ChainId, id: Uuid) -> Key {
    Key::new(changes_partition(chain), id.to_string())
}
