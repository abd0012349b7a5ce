//! API keys, stored as hashes only. Rows: docs/data-model.md, API keys.

use aws_sdk_dynamodb::types::{Delete, TransactWriteItem, Update};
use serde::{Deserialize, Serialize};

use super::table::{PrimaryKey, StoreError, Table, number, text, updating};
use crate::model::{ArtistId, KeyId, KeyName};

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
    /// Last use, in Unix seconds; `None` if never used.
    pub last_used_at: Option<u64>,
}

/// API keys of all artists.
#[derive(Clone)]
pub struct ApiKeys(Table);

/// Owner of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyOwner {
    /// The artist.
    pub artist_id: ArtistId,
    /// Id of the key.
    pub id: KeyId,
    /// Last use, in Unix seconds, up to a minute late; `None` if never used.
    pub last_used_at: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct ListRow {
    #[serde(flatten)]
    record: KeyRecord,
    hash: String,
}

impl ApiKeys {
    /// Uses the secret table.
    pub fn new(secrets: Table) -> Self {
        Self(secrets)
    }

    /// Stores a key under its hash; `false` if the artist already has [`MAX_KEYS`].
    pub async fn create(&self, artist: ArtistId, record: &KeyRecord, hash: &str) -> Result<bool, StoreError> {
        let owner = KeyOwner { artist_id: artist, id: record.id, last_used_at: None };
        let listed = ListRow { record: record.clone(), hash: hash.to_owned() };
        let count = self
            .count(artist)
            .update_expression("ADD live :one")
            .condition_expression("attribute_not_exists(live) OR live < :max")
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":max", number(MAX_KEYS));
        let writes = vec![
            updating(count)?,
            self.0.insertion(&hash_key(hash), &owner)?,
            self.0.insertion(&list_key(artist, record.id), &listed)?,
        ];
        self.0.write_together(writes).await
    }

    /// Returns the owner of the key with this hash. One read.
    pub async fn owner(&self, hash: &str) -> Result<Option<KeyOwner>, StoreError> {
        self.0.get(&hash_key(hash)).await
    }

    /// Records a use at `now` (Unix seconds), unless the key is revoked. One write.
    pub async fn note_use(&self, hash: &str, owner: &KeyOwner, now: u64) -> Result<(), StoreError> {
        let note = |key: PrimaryKey| {
            let update = Update::builder()
                .table_name(&self.0.name)
                .set_key(Some(key.item()))
                .update_expression("SET last_used_at = :now")
                .condition_expression("attribute_exists(pk)")
                .expression_attribute_values(":now", number(now));
            updating(update)
        };
        let writes = vec![note(hash_key(hash))?, note(list_key(owner.artist_id, owner.id))?];
        self.0.write_together(writes).await.map(drop)
    }

    /// Returns an artist's live keys, newest first. One Query.
    pub async fn list(&self, artist: ArtistId) -> Result<Vec<KeyRecord>, StoreError> {
        let call = self
            .0
            .client
            .query()
            .table_name(&self.0.name)
            .key_condition_expression("pk = :artist AND begins_with(sk, :keys)")
            .expression_attribute_values(":artist", text(artist_partition(artist)))
            .expression_attribute_values(":keys", text("KEY#"))
            .scan_index_forward(false)
            .consistent_read(true);
        let rows: Vec<ListRow> = serde_dynamo::from_items(call.send().await?.items.unwrap_or_default())?;
        Ok(rows.into_iter().map(|row| row.record).collect())
    }

    /// Revokes a key; `false` if the artist has no such key.
    pub async fn revoke(&self, artist: ArtistId, id: KeyId) -> Result<bool, StoreError> {
        let listed = list_key(artist, id);
        let Some(ListRow { hash, .. }) = self.0.get(&listed).await? else { return Ok(false) };
        let count = self
            .count(artist)
            .update_expression("ADD live :minus_one")
            .expression_attribute_values(":minus_one", number(-1));
        let mut writes = vec![updating(count)?];
        for key in [hash_key(&hash), listed] {
            let delete = Delete::builder().table_name(&self.0.name).set_key(Some(key.item()));
            let delete = delete.condition_expression("attribute_exists(pk)").build()?;
            writes.push(TransactWriteItem::builder().delete(delete).build());
        }
        self.0.write_together(writes).await
    }

    fn count(&self, artist: ArtistId) -> aws_sdk_dynamodb::types::builders::UpdateBuilder {
        let key = PrimaryKey::new(artist_partition(artist), "COUNT");
        Update::builder().table_name(&self.0.name).set_key(Some(key.item()))
    }
}

fn artist_partition(artist: ArtistId) -> String {
    format!("ARTIST#{artist}")
}

fn hash_key(hash: &str) -> PrimaryKey {
    PrimaryKey::new(format!("KEY#{hash}"), "KEY")
}

fn list_key(artist: ArtistId, id: KeyId) -> PrimaryKey {
    PrimaryKey::new(artist_partition(artist), format!("KEY#{id}"))
}
