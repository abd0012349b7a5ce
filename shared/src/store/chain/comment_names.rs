//! Usernames inside comments: copied, so that a page is one Query, and rewritten when the artist is renamed.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    aws::Dispatch,
    model::{Address, ArtistChange, ArtistChanged, ArtistId, ChainId},
    store::{
        chain::rows,
        engine::{
            index::UnitOfWork,
            table::{StoreError, readable, text},
        },
    },
};

/// An artist change that is still being propagated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingRename {
    /// The outbox message.
    #[serde(flatten)]
    pub change: ArtistChanged,
    /// Last reference that was rewritten.
    pub reached: Option<NameReference>,
}

/// A comment that shows a wallet's username. Ordered by wallet, then by comment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NameReference {
    /// The wallet.
    pub wallet: Address,
    /// Id of the comment.
    pub comment: String,
}

/// The first id of a stored change that no decision of the operator caused: all those of decisions are lower, and are
/// carried out first.
pub(super) const FIRST_OTHER: Uuid = Uuid::from_u128(1 << 120);

#[derive(Deserialize)]
struct PlaceKey {
    sk: String,
}

#[derive(Serialize)]
struct ChangeRow<'a> {
    artist_id: ArtistId,
    #[serde(flatten)]
    change: ArtistChange,
    reached: &'a Option<NameReference>,
}

impl UnitOfWork {
    /// Returns up to `limit` references to a wallet's username, after `after`. One Query.
    pub async fn named_places(
        &mut self,
        chain: ChainId,
        wallet: Address,
        after: Option<&str>,
        limit: u16,
    ) -> Result<Vec<NameReference>, StoreError> {
        let call = self
            .table()
            .client
            .query()
            .table_name(&self.table().name)
            .key_condition_expression("pk = :names AND sk > :after")
            .expression_attribute_values(":names", text(rows::named_comments(chain, wallet)))
            // Every comment id sorts after a space, and no key may be empty.
            .expression_attribute_values(":after", text(after.unwrap_or(" ")))
            .limit(limit.into())
            .consistent_read(true);
        let keys: Vec<PlaceKey> = serde_dynamo::from_items(call.dispatch().await?.items.unwrap_or_default())?;
        Ok(keys.into_iter().map(|key| NameReference { wallet, comment: key.sk }).collect())
    }

    /// Stores a new change. Undoing blocks doesn't remove it: a change that was propagated beside them is pending again.
    pub fn add_change(&mut self, chain: ChainId, changed: &ArtistChanged) -> Result<(), StoreError> {
        let ArtistChanged { id, artist_id, change } = *changed;
        // The first byte of the time goes; the order among decisions stays.
        let id = if changed.is_decision() { Uuid::from_u128(id.as_u128() & (u128::MAX >> 8)) } else { id };
        self.put_lasting(&rows::artist_change(chain, id), &ChangeRow { artist_id, change, reached: &None })
    }

    /// Stores the progress of a change.
    pub fn put_change(&mut self, chain: ChainId, carried: &PendingRename) -> Result<(), StoreError> {
        let PendingRename { change: ArtistChanged { id, artist_id, change }, reached } = carried;
        let row = ChangeRow { artist_id: *artist_id, change: *change, reached };
        self.put(&rows::artist_change(chain, *id), &row)
    }

    /// Deletes a fully propagated change.
    pub fn remove_change(&mut self, chain: ChainId, id: Uuid) {
        self.delete(&rows::artist_change(chain, id));
    }

    /// Returns up to `limit` pending changes as of the last commit: those of decisions first, then the oldest.
    /// One of a form that this version doesn't know is logged and stays. One Query.
    pub async fn pending_changes(&mut self, chain: ChainId, limit: usize) -> Result<Vec<PendingRename>, StoreError> {
        let call = self
            .table()
            .client
            .query()
            .table_name(&self.table().name)
            .key_condition_expression("pk = :changes")
            .expression_attribute_values(":changes", text(rows::artist_changes(chain)))
            .limit(i32::try_from(limit).unwrap_or(i32::MAX))
            .consistent_read(true);
        Ok(readable(call.dispatch().await?.items.unwrap_or_default()))
    }
}

impl PendingRename {
    /// Whether a decision of the operator caused it.
    pub fn is_decision(&self) -> bool {
        self.change.id < FIRST_OTHER
    }
}
