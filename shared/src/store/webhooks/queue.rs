use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;
use serde::Deserialize;

use crate::{
    model::{ArtistId, WebhookId},
    store::table::{PrimaryKey, StoreError, Table, number, text, unless_refused},
};

const PARTITION: &str = "WEBHOOKS_DUE";

/// A webhook with deliveries that wait.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct DueWebhook {
    /// The webhook.
    #[serde(rename = "sk")]
    pub webhook: WebhookId,
    /// Its artist.
    pub artist_id: ArtistId,
    /// When the next try is due, in Unix seconds; `None` while nothing waits.
    #[serde(default)]
    pub due_at: Option<u64>,
    /// Tries that failed since the last success.
    #[serde(default)]
    pub failures: u32,
    /// When the first of them was, in Unix seconds.
    #[serde(default)]
    pub failing_since: Option<u64>,
    /// Times that something was added.
    #[serde(default)]
    added: u64,
    /// Times that a try was asked for, and up to which of them there was one.
    #[serde(default)]
    asked: u64,
    #[serde(default)]
    answered: u64,
}

/// The webhooks that something waits for.
#[derive(Clone)]
pub struct WebhookQueue(Table);

impl DueWebhook {
    /// Whether a try is due.
    pub fn is_due(&self, now: u64) -> bool {
        self.due_at.is_some_and(|due| due <= now || self.asked > self.answered)
    }
}

impl WebhookQueue {
    /// Uses the artist table.
    pub fn new(artists: Table) -> Self {
        Self(artists)
    }

    /// Returns all of them. A Query per megabyte.
    pub async fn list(&self) -> Result<Vec<DueWebhook>, StoreError> {
        let query = self.0.query().key_condition_expression("pk = :pk");
        let mut pages = query.expression_attribute_values(":pk", text(PARTITION)).into_paginator().items().send();
        let mut due = Vec::new();
        while let Some(row) = pages.next().await {
            due.push(serde_dynamo::from_item(row?)?);
        }
        Ok(due)
    }

    /// Notes that something was added: it waits for its turn, behind a pause after a failure. One write.
    pub async fn note_added(&self, artist: ArtistId, webhook: WebhookId) -> Result<(), StoreError> {
        self.note(artist, webhook, "ADD added :one SET artist_id = :artist, due_at = if_not_exists(due_at, :now)").await
    }

    /// The same, and the next try is due now. One write.
    pub async fn ask(&self, artist: ArtistId, webhook: WebhookId) -> Result<(), StoreError> {
        let update = "ADD added :one, asked :one SET artist_id = :artist, due_at = if_not_exists(due_at, :now)";
        self.note(artist, webhook, update).await
    }

    async fn note(&self, artist: ArtistId, webhook: WebhookId, update: &str) -> Result<(), StoreError> {
        let call = self.update(webhook).update_expression(update).expression_attribute_values(":one", number(1));
        let call = call.expression_attribute_values(":artist", text(artist));
        call.expression_attribute_values(":now", number(0)).send().await?;
        Ok(())
    }

    /// Stores what was tried, and when the next try is due. One write.
    pub async fn put_off(&self, due: &DueWebhook) -> Result<(), StoreError> {
        let call = self.update(due.webhook).condition_expression("attribute_exists(pk)");
        let set = "SET due_at = :due, failures = :failures, answered = :answered";
        let call = match due.failing_since {
            Some(since) => call
                .update_expression(format!("{set}, failing_since = :since"))
                .expression_attribute_values(":since", number(since)),
            None => call.update_expression(format!("{set} REMOVE failing_since")),
        };
        let call = call.expression_attribute_values(":due", number(due.due_at.unwrap_or_default()));
        let call = call.expression_attribute_values(":failures", number(due.failures));
        let call = call.expression_attribute_values(":answered", number(due.asked));
        unless_refused(call.send().await).map(drop)
    }

    /// Ends the waiting, unless something was added since `due` was read; a webhook that fails is remembered. One write.
    pub async fn settle(&self, due: &DueWebhook) -> Result<(), StoreError> {
        let added = number(due.added);
        if due.failing_since.is_some() {
            let call =
                self.update(due.webhook).update_expression("REMOVE due_at").condition_expression("added = :added");
            return unless_refused(call.expression_attribute_values(":added", added).send().await).map(drop);
        }
        self.forget(due).await
    }

    /// Forgets a webhook, unless something was added since `due` was read: it may be on again. One write.
    pub async fn forget(&self, due: &DueWebhook) -> Result<(), StoreError> {
        let call = self.0.client.delete_item().table_name(&self.0.name).set_key(Some(key(due.webhook).item()));
        let call = call.condition_expression("added = :added");
        unless_refused(call.expression_attribute_values(":added", number(due.added)).send().await).map(drop)
    }

    fn update(&self, webhook: WebhookId) -> UpdateItemFluentBuilder {
        self.0.client.update_item().table_name(&self.0.name).set_key(Some(key(webhook).item()))
    }
}

fn key(webhook: WebhookId) -> PrimaryKey {
    PrimaryKey::new(PARTITION, webhook.to_string())
}
