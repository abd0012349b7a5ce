use serde::Deserialize;

use super::{
    account::{AccountState, account_key},
    replay::{Replay, ReplayKey, replay_key},
    transaction::Transactions,
};
use crate::{
    aws::Dispatch,
    model::{ArtistId, ChainId, Suspension},
    store::{
        artist::artists::{Artist, profile_key},
        engine::table::{StoreError, text},
    },
};

/// State of a caller before a write.
#[derive(Clone, Debug)]
pub struct CallerState {
    /// The artist.
    pub artist: Artist,
    /// Since when, in Unix seconds.
    pub joined_at: u64,
    /// Why they publish nothing; it may have ended.
    pub suspension: Option<Suspension>,
    /// Their account on the target chain; `None` before its first transaction.
    pub account: Option<AccountState>,
    /// Earlier request with the same idempotency key, expired or not.
    pub replayed: Option<Replay>,
}

#[derive(Deserialize)]
struct Joined {
    #[serde(flatten)]
    artist: Artist,
    created_at: u64,
    #[serde(default)]
    suspension: Option<Suspension>,
}

impl Transactions {
    /// Returns the state of a caller; `None` if there is no such artist. One read.
    pub async fn caller(
        &self,
        artist: ArtistId,
        chain: ChainId,
        replay: Option<&ReplayKey>,
    ) -> Result<Option<CallerState>, StoreError> {
        let (profile, own) = (profile_key(artist), account_key(artist, chain));
        let keys: Vec<_> = [profile.clone(), own.clone()].into_iter().chain(replay.map(replay_key)).collect();
        let (mut known, mut account, mut replayed) = (None, None, None);
        let (rows, _) = self.table.read_rows(&keys).await?;
        for row in rows {
            // What a row is, its key says: one that can't be read is none of the others.
            match row.get("pk").and_then(|pk| pk.as_s().ok()) {
                Some(pk) if *pk == profile.pk => known = Some(serde_dynamo::from_item(row)?),
                Some(pk) if *pk == own.pk => account = Some(serde_dynamo::from_item(row)?),
                _ => replayed = Some(serde_dynamo::from_item(row)?),
            }
        }
        let state = |Joined { artist, created_at: joined_at, suspension }| CallerState {
            artist,
            joined_at,
            suspension,
            account,
            replayed,
        };
        Ok(known.map(state))
    }

    /// Whether transactions of an artist are waiting on any chain. One Query.
    pub async fn are_waiting(&self, artist: ArtistId) -> Result<bool, StoreError> {
        let partition = account_key(artist, ChainId::DEFAULT).pk;
        let query = self.table.query().key_condition_expression("pk = :pk");
        let answer = query.expression_attribute_values(":pk", text(partition)).dispatch().await?;
        let accounts: Vec<AccountState> = serde_dynamo::from_items(answer.items.unwrap_or_default())?;
        Ok(accounts.iter().any(|account| account.waiting > 0))
    }

    /// Returns an artist's account on a chain; `None` before its first transaction. One read.
    pub async fn account(&self, artist: ArtistId, chain: ChainId) -> Result<Option<AccountState>, StoreError> {
        self.table.get(&account_key(artist, chain)).await
    }
}
