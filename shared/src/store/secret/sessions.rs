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

/// What is stored about a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionState {
    /// It was signed out.
    pub is_over: bool,
    /// Its artist has a passkey.
    pub has_passkey: bool,
}

#[derive(Deserialize)]
struct SessionRow {
    #[serde(default)]
    through: Option<Uuid>,
    #[serde(default)]
    is_passkey_mark: bool,
    #[serde(default)]
    expires_at: Option<u64>,
}

impl Sessions {
    /// Uses the secret table.
    pub fn new(secrets: SecretTable) -> Self {
        Self(secrets)
    }

    /// Returns what is stored about a token. One read.
    pub async fn state(&self, artist: ArtistId, token: Uuid, now: u64) -> Result<SessionState, StoreError> {
        let keys = [rows::ended_session(artist, token), rows::ended_sessions(artist), rows::passkey_mark(artist)];
        let rows: Vec<SessionRow> = self.0.get_many(keys).await?;
        let mut state = SessionState::default();
        for row in rows {
            if row.is_passkey_mark {
                state.has_passkey = row.expires_at.is_none_or(|at| at > now);
            } else {
                state.is_over |= row.through.is_none_or(|through| token <= through);
            }
        }
        Ok(state)
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
