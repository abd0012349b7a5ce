//! Outbox of artist changes. Messages carry no values; consumers reread the artist, so delivery is idempotent.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    aws::Dispatch,
    model::{ArtistChange, ArtistChanged, ArtistId},
    store::{
        artist::rows,
        engine::table::{ArtistTable, PrimaryKey, StoreError, readable, row, text},
    },
};

/// Messages of one Query.
const MESSAGES_A_QUERY: i32 = 100;

/// Outbox for one consumer.
#[derive(Clone)]
pub struct Outbox {
    table: ArtistTable,
    reader: Reader,
}

/// Who reads the messages.
#[derive(Clone, Copy)]
enum Reader {
    Index,
    Rankings,
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
        Self { table: artists, reader: Reader::Index }
    }

    /// Outbox of `rank-collectors`: connected and disconnected wallets.
    pub fn of_rankings(artists: ArtistTable) -> Self {
        Self { table: artists, reader: Reader::Rankings }
    }

    pub(in crate::store::artist) fn posting(
        &self,
        artist_id: ArtistId,
        change: ArtistChange,
    ) -> Result<TransactWriteItem, StoreError> {
        self.message(Uuid::now_v7(), artist_id, change)
    }

    /// Like [`Self::posting`], for what the operator decided: no number of other messages delays it.
    pub(in crate::store::artist) fn posting_decision(
        &self,
        artist_id: ArtistId,
        change: ArtistChange,
    ) -> Result<TransactWriteItem, StoreError> {
        let id = Uuid::now_v7().as_u128() | ArtistChanged::FIRST_DECISION.as_u128();
        self.message(Uuid::from_u128(id), artist_id, change)
    }

    fn message(&self, id: Uuid, artist_id: ArtistId, change: ArtistChange) -> Result<TransactWriteItem, StoreError> {
        let item = row(&self.key(id), &OutboxMessage { artist_id, change })?;
        let put = Put::builder().table_name(&self.table.name).set_item(Some(item)).build()?;
        Ok(TransactWriteItem::builder().put(put).build())
    }

    /// Returns at least `limit` messages that aren't `known`, or all of them, from the first with this id or a later one
    /// on. Messages of a form that this version doesn't know are logged and stay. One Query per hundred.
    pub async fn since(
        &self,
        first: Uuid,
        limit: usize,
        known: &BTreeSet<Uuid>,
    ) -> Result<Vec<ArtistChanged>, StoreError> {
        let (mut messages, mut place) = (Vec::new(), None);
        loop {
            let call = self
                .table
                .client
                .query()
                .table_name(&self.table.name)
                .key_condition_expression("pk = :inbox AND sk >= :first")
                .expression_attribute_values(":inbox", text(self.partition()))
                .expression_attribute_values(":first", text(first))
                .set_exclusive_start_key(place.take())
                .limit(MESSAGES_A_QUERY)
                .consistent_read(true);
            let page = call.dispatch().await?;
            let read: Vec<ArtistChanged> = readable(page.items.unwrap_or_default());
            messages.extend(read.into_iter().filter(|message| !known.contains(&message.id)));
            place = page.last_evaluated_key;
            if messages.len() >= limit || place.is_none() {
                return Ok(messages);
            }
        }
    }

    /// Whether a message of this artist waits. One Query per hundred.
    pub async fn has_any_of(&self, artist: ArtistId) -> Result<bool, StoreError> {
        let waiting = self.since(Uuid::nil(), usize::MAX, &BTreeSet::new()).await?;
        Ok(waiting.iter().any(|message| message.artist_id == artist))
    }

    /// Returns the oldest messages. One Query.
    pub async fn oldest(&self) -> Result<Vec<ArtistChanged>, StoreError> {
        self.since(Uuid::nil(), 1, &BTreeSet::new()).await
    }

    /// Deletes a processed message. One write.
    pub async fn remove(&self, id: Uuid) -> Result<(), StoreError> {
        let call = self.table.client.delete_item().table_name(&self.table.name);
        call.set_key(Some(self.key(id).item())).dispatch().await?;
        Ok(())
    }

    fn key(&self, id: Uuid) -> PrimaryKey {
        match self.reader {
            Reader::Index => rows::index_message(id),
            Reader::Rankings => rows::ranking_message(id),
        }
    }

    fn partition(&self) -> String {
        match self.reader {
            Reader::Index => rows::index_inbox(),
            Reader::Rankings => rows::ranking_inbox(),
        }
    }
}
