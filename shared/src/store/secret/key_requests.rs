//! What was asked with each API key, and what was answered, for a week. Rows: docs/data-model.md, API keys.

use serde::{Deserialize, Serialize};

use crate::{
    aws::Dispatch,
    model::{ArtistId, KeyId},
    store::{
        engine::table::{SecretTable, StoreError, row, text},
        secret::rows,
    },
};

/// A request that a key was sent with, and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRequest {
    /// When it was answered, in Unix milliseconds.
    pub at: u64,
    /// What the answer had as `x-request-id`.
    pub request_id: String,
    /// Method and pattern of the path, such as `POST /moment/collect`.
    pub route: String,
    /// HTTP status of the answer.
    pub status: u16,
    /// Message of an error; empty for a success.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Time until the answer, in milliseconds.
    pub duration: u64,
    /// Requests of the key just before it that weren't kept.
    #[serde(default)]
    pub skipped: u32,
}

/// Requests of all keys.
#[derive(Clone)]
pub struct KeyRequests(SecretTable);

#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    request: &'a KeyRequest,
    expires_at: u64,
}

impl KeyRequests {
    /// Uses the secret table.
    pub fn new(secrets: SecretTable) -> Self {
        Self(secrets)
    }

    /// Keeps a request for a week. One write.
    pub async fn note(&self, artist: ArtistId, key: KeyId, request: &KeyRequest) -> Result<(), StoreError> {
        const KEPT: u64 = 7 * 24 * 60 * 60;
        let expires_at = request.at / 1000 + KEPT;
        let item = row(&rows::key_request(artist, key, request.at, &request.request_id), &Row { request, expires_at })?;
        self.0.client.put_item().table_name(&self.0.name).set_item(Some(item)).dispatch().await?;
        Ok(())
    }

    /// Returns the last `limit` requests of an artist's key, newest first; none of a key that isn't theirs. One Query.
    pub async fn list(&self, artist: ArtistId, key: KeyId, limit: u32) -> Result<Vec<KeyRequest>, StoreError> {
        let query = self.0.query().key_condition_expression("pk = :pk AND begins_with(sk, :key)");
        let answer = query
            .expression_attribute_values(":pk", text(rows::key_requests(artist)))
            .expression_attribute_values(":key", text(format!("{key}#")))
            .scan_index_forward(false)
            .limit(i32::try_from(limit).unwrap_or(i32::MAX))
            .dispatch()
            .await?;
        Ok(serde_dynamo::from_items(answer.items.unwrap_or_default())?)
    }
}
