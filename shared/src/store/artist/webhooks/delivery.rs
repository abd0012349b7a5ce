use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    aws::Dispatch,
    model::{ArtistId, DeliveryId, DeliveryStatus, WebhookId},
    store::{
        artist::rows,
        engine::table::{ArtistTable, StoreError, deleting, putting, text},
    },
};

/// How long deliveries are kept, in seconds.
const KEPT: u64 = 7 * 24 * 60 * 60;

/// An event on its way to a webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// The webhook.
    pub webhook: WebhookId,
    /// Id of the event.
    pub event: String,
    /// Type of the event.
    pub r#type: String,
    /// What is sent.
    pub body: String,
    /// Since when it waits, in Unix seconds.
    pub created_at: u64,
    /// What became of it.
    pub status: DeliveryStatus,
    /// Tries so far.
    pub attempts: u32,
    /// The last try.
    pub last: Option<DeliveryAttempt>,
    /// Expiry, in Unix seconds.
    pub expires_at: u64,
}

/// A try to deliver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryAttempt {
    /// When it began, in Unix seconds.
    pub at: u64,
    /// Status of the answer.
    pub status: Option<u16>,
    /// How long it took, in milliseconds.
    pub latency_ms: u64,
    /// What was wrong, if the status doesn't say it.
    pub error: Option<String>,
}

/// Deliveries of all webhooks.
#[derive(Clone)]
pub struct Deliveries(ArtistTable);

impl Delivery {
    /// A delivery that waits since `now` (Unix seconds).
    pub fn new(id: DeliveryId, webhook: WebhookId, event: String, r#type: String, body: String, now: u64) -> Self {
        Self {
            id,
            webhook,
            event,
            r#type,
            body,
            created_at: now,
            status: DeliveryStatus::Pending,
            attempts: 0,
            last: None,
            expires_at: now + KEPT,
        }
    }
}

impl Deliveries {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self(artists)
    }

    /// Stores deliveries that wait. A write per 25, some at the same time.
    pub async fn add(&self, deliveries: &[(ArtistId, Delivery)]) -> Result<(), StoreError> {
        let puts = deliveries.iter().map(|(artist, delivery)| {
            putting(&rows::pending_delivery(*artist, delivery.webhook, delivery.id), delivery)
        });
        self.0.write_many(puts.collect::<Result<_, _>>()?).await
    }

    /// Returns the first deliveries of a webhook that wait, in their order. One Query.
    pub async fn pending(
        &self,
        artist: ArtistId,
        webhook: WebhookId,
        limit: usize,
    ) -> Result<Vec<Delivery>, StoreError> {
        self.page(artist, &pending_prefix(webhook), None, limit, true).await
    }

    /// Keeps what is known of a delivery that still waits. One write.
    pub async fn keep_pending(&self, artist: ArtistId, delivery: &Delivery) -> Result<(), StoreError> {
        self.0
            .write_many(vec![putting(&rows::pending_delivery(artist, delivery.webhook, delivery.id), delivery)?])
            .await
    }

    /// Ends a delivery. One call, two writes.
    pub async fn end(&self, artist: ArtistId, delivery: &Delivery) -> Result<(), StoreError> {
        let gone = deleting(&rows::pending_delivery(artist, delivery.webhook, delivery.id))?;
        let ended = putting(&rows::ended_delivery(artist, delivery.webhook, delivery.id), delivery)?;
        self.0.write_many(vec![ended, gone]).await
    }

    /// Returns up to `limit` deliveries of a webhook before `before`, the newest first. Two Queries.
    pub async fn list(
        &self,
        artist: ArtistId,
        webhook: WebhookId,
        before: Option<DeliveryId>,
        limit: usize,
        now: u64,
    ) -> Result<Vec<Delivery>, StoreError> {
        let (pending, ended) = (pending_prefix(webhook), ended_prefix(webhook));
        let (pending, ended) = tokio::try_join!(
            self.page(artist, &pending, before, limit, false),
            self.page(artist, &ended, before, limit, false)
        )?;
        // One that ended between the two reads is in both.
        let all: BTreeMap<_, _> = pending.into_iter().chain(ended).map(|delivery| (delivery.id, delivery)).collect();
        Ok(all.into_values().rev().filter(|delivery| delivery.expires_at > now).take(limit).collect())
    }

    /// Returns a delivery. One read.
    pub async fn find(
        &self,
        artist: ArtistId,
        webhook: WebhookId,
        id: DeliveryId,
    ) -> Result<Option<Delivery>, StoreError> {
        let keys = [rows::pending_delivery(artist, webhook, id), rows::ended_delivery(artist, webhook, id)];
        let found: Vec<Delivery> = self.0.get_many(keys).await?;
        Ok(found.into_iter().next())
    }

    async fn page(
        &self,
        artist: ArtistId,
        prefix: &str,
        before: Option<DeliveryId>,
        limit: usize,
        is_forward: bool,
    ) -> Result<Vec<Delivery>, StoreError> {
        // All ids sort below the letter.
        let end = before.map_or_else(|| format!("{prefix}g"), |before| format!("{prefix}{before}"));
        let call = self.0.query().key_condition_expression("pk = :pk AND sk BETWEEN :first AND :end");
        let call = call.expression_attribute_values(":pk", text(rows::deliveries(artist)));
        let call =
            call.expression_attribute_values(":first", text(prefix)).expression_attribute_values(":end", text(end));
        let limit = limit + usize::from(before.is_some());
        let call = call.scan_index_forward(is_forward).limit(i32::try_from(limit).unwrap_or(i32::MAX));
        let rows: Vec<Delivery> = serde_dynamo::from_items(call.dispatch().await?.items.unwrap_or_default())?;
        Ok(rows.into_iter().filter(|delivery| Some(delivery.id) != before).collect())
    }
}

fn pending_prefix(webhook: WebhookId) -> String {
    format!("{webhook}#PENDING#")
}

fn ended_prefix(webhook: WebhookId) -> String {
    format!("{webhook}#ENDED#")
}
