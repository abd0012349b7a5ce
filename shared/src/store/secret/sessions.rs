//! Tokens: who holds them, and which were signed out. A row lives as long as its tokens. Rows: docs/data-model.md, Sessions.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::passkeys::PasskeyMark;
use crate::{
    aws::Dispatch,
    model::{ArtistId, SessionId},
    store::{
        engine::table::{Item, SecretTable, StoreError, row},
        secret::rows,
    },
};

/// Tokens of all artists.
#[derive(Clone)]
pub struct Sessions(SecretTable);

/// A token that was issued, as its artist sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// When its artist signed in, in Unix seconds.
    pub issued_at: u64,
    /// When it expires, in Unix seconds.
    pub expires_at: u64,
    /// Network of the sign-in.
    pub network: String,
    /// What the program called itself (`User-Agent`), up to 200 characters.
    pub agent: String,
}

/// What is in the partition; `Other` is another version's.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Row {
    Ended { ended: SessionId, expires_at: u64 },
    EndedThrough { through: SessionId, expires_at: u64 },
    PasskeyMark(PasskeyMark),
    Other {},
}

/// What is stored about a token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionState {
    /// It was signed out.
    pub is_over: bool,
    /// Its artist's passkeys.
    pub passkeys: PasskeyMark,
}

impl Sessions {
    /// Uses the secret table.
    pub fn new(secrets: SecretTable) -> Self {
        Self(secrets)
    }

    /// Returns what is stored about a token. One read.
    pub async fn state(&self, artist: ArtistId, token: SessionId) -> Result<SessionState, StoreError> {
        let keys = [rows::ended_session(artist, token), rows::ended_sessions(artist), rows::passkey_mark(artist)];
        let rows: Vec<Row> = self.0.get_many(keys).await?;
        let mut state = SessionState::default();
        for row in rows {
            match row {
                Row::PasskeyMark(mark) => state.passkeys = mark,
                Row::Ended { .. } | Row::Other {} => state.is_over = true,
                Row::EndedThrough { through, .. } => state.is_over |= token <= through,
            }
        }
        Ok(state)
    }

    /// Remembers who holds a token. One write.
    pub async fn open(&self, artist: ArtistId, session: &Session) -> Result<(), StoreError> {
        self.put(row(&rows::session(artist, session.id), session)?).await
    }

    /// Returns the tokens that can be used at `now` (Unix seconds), the newest first. Two Queries.
    pub async fn list(&self, artist: ArtistId, now: u64) -> Result<Vec<Session>, StoreError> {
        let tokens = self.0.partition(rows::open_sessions(artist));
        let (mut tokens, marks): (Vec<Session>, Vec<Row>) =
            tokio::try_join!(tokens, self.0.partition(rows::session_marks(artist)))?;
        let (mut ended, mut ended_through) = (HashSet::new(), None);
        for mark in marks {
            match mark {
                Row::Ended { ended: token, .. } => {
                    ended.insert(token);
                }
                Row::EndedThrough { through, .. } => ended_through = Some(through),
                Row::PasskeyMark(_) | Row::Other {} => {}
            }
        }
        tokens.retain(|session| {
            session.expires_at > now && Some(session.id) > ended_through && !ended.contains(&session.id)
        });
        tokens.reverse();
        Ok(tokens)
    }

    /// Ends one token. One write.
    pub async fn end(&self, artist: ArtistId, token: SessionId, expires_at: u64) -> Result<(), StoreError> {
        self.put(row(&rows::ended_session(artist, token), &Row::Ended { ended: token, expires_at })?).await
    }

    /// Ends a token that was issued to the artist; `false` if none such can be used at `now` (Unix seconds). A read and a
    /// write.
    pub async fn end_other(&self, artist: ArtistId, token: SessionId, now: u64) -> Result<bool, StoreError> {
        match self.0.get::<Session>(&rows::session(artist, token)).await? {
            Some(session) if session.expires_at > now => {
                self.end(artist, token, session.expires_at).await.map(|()| true)
            }
            _ => Ok(false),
        }
    }

    /// Ends all tokens that were issued so far. One write.
    pub async fn end_all(&self, artist: ArtistId, expires_at: u64) -> Result<(), StoreError> {
        let ended = Row::EndedThrough { through: SessionId::next(), expires_at };
        self.put(row(&rows::ended_sessions(artist), &ended)?).await
    }

    async fn put(&self, item: Item) -> Result<(), StoreError> {
        self.0.client.put_item().table_name(&self.0.name).set_item(Some(item)).dispatch().await?;
        Ok(())
    }
}
