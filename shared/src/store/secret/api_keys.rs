//! API keys, stored as hashes only. Rows: docs/data-model.md, API keys.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::Update;
use serde::{Deserialize, Serialize};

use crate::{
    aws::Dispatch,
    model::{ArtistId, DailySpend, KeyId, KeyName, Scope},
    store::{
        engine::table::{Item, SecretTable, StoreError, number, row, text, updating},
        secret::rows,
    },
};

/// Maximum number of live keys per artist.
pub const MAX_KEYS: u32 = 10;

/// A key as listed for its owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRecord {
    /// Id to revoke it by.
    pub id: KeyId,
    /// Label chosen by the owner.
    pub name: KeyName,
    /// First characters of the key, shown to recognise it.
    pub prefix: String,
    /// Creation time, in Unix seconds.
    pub created_at: u64,
    /// Last use, in Unix seconds, up to a minute late; `None` if never used.
    #[serde(default, skip_serializing)]
    pub last_used_at: Option<u64>,
    /// What it may do.
    #[serde(flatten)]
    pub grant: KeyGrant,
}

/// What a key may do, and until when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyGrant {
    /// Its scopes.
    #[serde(default = "default_scopes")]
    pub scopes: Vec<Scope>,
    /// Most that it may spend in a day.
    #[serde(default)]
    pub daily_spend: DailySpend,
    /// When it stops working, in Unix seconds; `None` if never. The row stays until the key is revoked.
    #[serde(default)]
    pub valid_until: Option<u64>,
}

/// API keys of all artists.
#[derive(Clone)]
pub struct ApiKeys(SecretTable);

/// Owner of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyOwner {
    /// The artist.
    pub artist_id: ArtistId,
    /// Id of the key.
    pub id: KeyId,
    /// What it may do.
    #[serde(flatten)]
    pub grant: KeyGrant,
}

/// In a partition of its own, so that a function that notes a use can't write keys.
#[derive(Serialize, Deserialize)]
struct UseRow {
    id: KeyId,
    last_used_at: u64,
    expires_at: u64,
}

#[derive(Serialize, Deserialize)]
struct ListRow {
    #[serde(flatten)]
    record: KeyRecord,
    hash: String,
}

impl ApiKeys {
    /// Uses the secret table.
    pub fn new(secrets: SecretTable) -> Self {
        Self(secrets)
    }

    /// Stores a key under its hash; `false` if the artist already has [`MAX_KEYS`].
    pub async fn create(&self, artist: ArtistId, record: &KeyRecord, hash: &str) -> Result<bool, StoreError> {
        let owner = KeyOwner { artist_id: artist, id: record.id, grant: record.grant.clone() };
        let listed = ListRow { record: record.clone(), hash: hash.to_owned() };
        let count = self
            .count(artist)
            .update_expression("ADD live :one")
            .condition_expression("attribute_not_exists(live) OR live < :max")
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":max", number(MAX_KEYS));
        let writes = vec![
            updating(count)?,
            self.0.insertion(&rows::live_key(hash), &owner)?,
            self.0.insertion(&rows::api_key(artist, record.id), &listed)?,
        ];
        self.0.write_together(writes).await
    }

    /// Returns the owner of the key with this hash. One read.
    pub async fn owner(&self, hash: &str) -> Result<Option<KeyOwner>, StoreError> {
        self.0.get(&rows::live_key(hash)).await
    }

    /// Records a use at `now` (Unix seconds). One write.
    pub async fn note_use(&self, owner: &KeyOwner, now: u64) -> Result<(), StoreError> {
        const KEPT: u64 = 400 * 24 * 60 * 60;
        let used = UseRow { id: owner.id, last_used_at: now, expires_at: now + KEPT };
        let item = row(&rows::api_key_use(owner.artist_id, owner.id), &used)?;
        self.0.client.put_item().table_name(&self.0.name).set_item(Some(item)).dispatch().await?;
        Ok(())
    }

    /// Returns an artist's live keys, newest first. Two Queries.
    pub async fn list(&self, artist: ArtistId) -> Result<Vec<KeyRecord>, StoreError> {
        let (keys, uses) =
            tokio::try_join!(self.rows(rows::api_keys(artist), "KEY#"), self.rows(rows::api_key_uses(artist), ""))?;
        let (keys, uses): (Vec<ListRow>, Vec<UseRow>) =
            (serde_dynamo::from_items(keys)?, serde_dynamo::from_items(uses)?);
        let uses: HashMap<_, _> = uses.into_iter().map(|used| (used.id.to_string(), used.last_used_at)).collect();
        let record = |row: ListRow| {
            let last_used_at = uses.get(&row.record.id.to_string()).copied();
            KeyRecord { last_used_at, ..row.record }
        };
        Ok(keys.into_iter().map(record).collect())
    }

    async fn rows(&self, partition: String, prefix: &str) -> Result<Vec<Item>, StoreError> {
        let call = self.0.client.query().table_name(&self.0.name).expression_attribute_values(":pk", text(partition));
        let call = if prefix.is_empty() {
            call.key_condition_expression("pk = :pk")
        } else {
            call.key_condition_expression("pk = :pk AND begins_with(sk, :prefix)")
                .expression_attribute_values(":prefix", text(prefix))
        };
        let answer = call.scan_index_forward(false).consistent_read(true).dispatch().await?;
        Ok(answer.items.unwrap_or_default())
    }

    /// Revokes a key; `false` if the artist has no such key.
    pub async fn revoke(&self, artist: ArtistId, id: KeyId) -> Result<bool, StoreError> {
        let listed = rows::api_key(artist, id);
        let Some(ListRow { hash, .. }) = self.0.get(&listed).await? else { return Ok(false) };
        let count = self
            .count(artist)
            .update_expression("ADD live :minus_one")
            .expression_attribute_values(":minus_one", number(-1));
        let mut writes = vec![updating(count)?];
        for key in [rows::live_key(&hash), listed] {
            writes.push(self.0.removal(&key)?);
        }
        writes.push(self.0.deletion(&rows::api_key_use(artist, id))?);
        self.0.write_together(writes).await
    }

    /// Revokes all keys of an artist; `false` if there were none. A Query, and a transaction for each key.
    pub async fn revoke_all(&self, artist: ArtistId) -> Result<bool, StoreError> {
        let keys = self.list(artist).await?;
        for key in &keys {
            self.revoke(artist, key.id).await?;
        }
        Ok(!keys.is_empty())
    }

    fn count(&self, artist: ArtistId) -> aws_sdk_dynamodb::types::builders::UpdateBuilder {
        let key = rows::api_key_count(artist);
        Update::builder().table_name(&self.0.name).set_key(Some(key.item()))
    }
}

fn default_scopes() -> Vec<Scope> {
    Scope::DEFAULT.to_vec()
}
