//! Outbox of artist changes. Messages carry no values; consumers reread the artist, so delivery is idempotent.

use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    aws::Dispatch,
    model::{ArtistChange, ArtistChanged, ArtistId},
    store::engine::table::{ArtistTable, PrimaryKey, StoreError, row, text},
};

/// Outbox for one consumer.
#[derive(Clone)]
pub struct Outbox {
    table: ArtistTable,
    partition: &'static str,
}

#[derive(Serialize)]
struct OutboxMessage {
    artist_id: ArtistId,
    #[serde(flatten)]
    change: ArtistChange,
}

impl Outbox {
    /// Outbox of the indexer, in the artist table: every change.
    pub fn new(artists: ArtistTable) -> Self {
        Self { table: artists, partition: "INBOX" }
    }

    /// Outbox of `rank-collectors`: connected and disconnected wallets.
    pub fn of_rankings(artists: ArtistTable) -> Self {
        Self { table: artists, partition: "INBOX#RANKINGS" }
    }

    pub(super) fn posting(&self, artist_id: ArtistId, change: ArtistChange) -> Result<TransactWriteItem, StoreError> {
        let item = row(&self.key(Uuid::now_v7()), &OutboxMessage { artist_id, change })?;
        let put = Put::builder().table_name(&self.table.name).set_item(Some(item)).build()?;
        Ok(TransactWriteItem::builder().put(put).build())
    }

    /// Returns up to `limit` messages, oldest first. One Query.
    pub async fn oldest(&self, limit: u16) -> Result<Vec<ArtistChanged>, StoreError> {
        let call = self
            .table
            .client
            .query()
            .table_name(&self.table.name)
            .key_condition_expression("pk = :inbox")
            .expression_attribute_values(":inbox", text(self.partition))
            .limit(limit.into())
            .consistent_read(true);
        Ok(serde_dynamo::from_items(call.dispatch().await?.items.unwrap_or_default())?)
    }

    /// Deletes a processed message. One write.
    pub async fn remove(&self, id: Uuid) -> Result<(), StoreError> {
        let call = self.table.client.delete_item().table_name(&self.table.name);
        call.set_key(Some(self.key(id).item())).dispatch().await?;
        Ok(())
    }

    fn key(&self, id: Uuid) -> PrimaryKey {
        PrimaryKey::new(self.partition, id.to_string())
    }
}
