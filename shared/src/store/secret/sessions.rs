//! Signed-out tokens. A row lives as long as the tokens that it ends. Rows: docs/data-model.md, Sessions.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    aws::Dispatch,
    model::ArtistId,
    store::{
        engine::table::{PrimaryKey, SecretTable, StoreError, row},
        secret::rows,
    },
};

/// Signed-out tokens of all artists.
#[derive(Clone)]
pub struct Sessions(SecretTable);

#[derive(Serialize, Deserialize)]
struct SignedOut {
    /// Tokens up to this one (UUID v7) are ended; `None` for a single token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    through: Option<Uuid>,
    expires_at: u64,
}

impl Sessions {
    /// Uses the secret table.
    pub fn new(secrets: SecretTable) -> Self {
        Self(secrets)
    }

    /// Whether a token was signed out. One read.
    pub async fn is_over(&self, artist: ArtistId, token: Uuid) -> Result<bool, StoreError> {
        let rows: Vec<SignedOut> =
            self.0.get_many([rows::ended_session(artist, token), rows::ended_sessions(artist)]).await?;
        Ok(rows.iter().any(|row| row.through.is_none_or(|through| token <= through)))
    }

    /// Ends one token. One write.
    pub async fn end(&self, artist: ArtistId, token: Uuid, expires_at: u64) -> Result<(), StoreError> {
        self.put(&rows::ended_session(artist, token), &SignedOut { through: None, expires_at }).await
    }

    /// Ends all tokens that were issued so far. One write.
    pub async fn end_all(&self, artist: ArtistId, expires_at: u64) -> Result<(), StoreError> {
        self.put(&rows::ended_sessions(artist), &SignedOut { through: Some(Uuid::now_v7()), expires_at }).await
    }

    async fn put(&self, key: &PrimaryKey, row_: &SignedOut) -> Result<(), StoreError> {
        let item = row(key, row_)?;
        self.0.client.put_item().table_name(&self.0.name).set_item(Some(item)).dispatch().await?;
        Ok(())
    }
}
