//! API keys, in the table of secrets. Only the hash of a key is kept.
//!
//! - `pk = KEY#<hash>`, `sk = KEY`: whose key it is, for the request that brings it;
//! - `pk = ARTIST#<id>`, `sk = KEY#<key id>`: the key as its owner sees it; ids sort by time;
//! - `pk = ARTIST#<id>`, `sk = COUNT`: how many are live.

use aws_sdk_dynamodb::types::{Delete, TransactWriteItem, Update};
use serde::{Deserialize, Serialize};

use super::{Key, StoreError, Table, number, text};
use crate::model::{ArtistId, KeyId, KeyName};

/// Most keys that an artist can have at a time.
pub const MAX_KEYS: u32 = 10;

/// A key as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRecord {
    /// By which it is revoked.
    pub id: KeyId,
    /// What its owner calls it.
    pub name: KeyName,
    /// Its first characters, by which it is recognised.
    pub prefix: String,
    /// Unix time in seconds.
    pub created_at: u64,
    /// Unix time in seconds, once it was used.
    pub last_used_at: Option<u64>,
}

/// Every artist's keys.
#[derive(Clone)]
pub struct Keys(Table);

/// Whose key it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyOwner {
    /// The artist.
    pub artist_id: ArtistId,
    /// The key.
    pub id: KeyId,
    /// Unix time in seconds, once it was used; up to a minute behind.
    pub last_used_at: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct ListRow {
    #[serde(flatten)]
    record: KeyRecord,
    hash: String,
}

impl Keys {
    /// The keys in the table of secrets.
    pub fn new(secrets: Table) -> Self {
        Self(secrets)
    }

    /// Keeps a key under its hash. `false` when the artist has [`MAX_KEYS`] already.
    ///
    /// # Errors
    /// When storage fails.
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
            TransactWriteItem::builder().update(count.build()?).build(),
            self.0.insertion(&hash_key(hash), &owner)?,
            self.0.insertion(&list_key(artist, record.id), &listed)?,
        ];
        self.0.write_together(writes).await
    }

    /// Whose key has this hash. One read.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn owner(&self, hash: &str) -> Result<Option<KeyOwner>, StoreError> {
        self.0.get(&hash_key(hash)).await
    }

    /// Notes that a key is used at `now`, a Unix time in seconds, unless it is revoked. One write.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn note_use(&self, hash: &str, owner: &KeyOwner, now: u64) -> Result<(), StoreError> {
        let note = |key: Key| {
            let update = Update::builder()
                .table_name(&self.0.name)
                .set_key(Some(key.item()))
                .update_expression("SET last_used_at = :now")
                .condition_expression("attribute_exists(pk)")
                .expression_attribute_values(":now", number(now));
            Ok::<_, StoreError>(TransactWriteItem::builder().update(update.build()?).build())
        };
        let writes = vec![note(hash_key(hash))?, note(list_key(owner.artist_id, owner.id))?];
        self.0.write_together(writes).await.map(drop)
    }

    /// An artist's live keys, newest first. One Query.
    ///
    /// # Errors
    /// When storage fails.
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

    /// Revokes a key of this artist. `false` when the artist has no such key.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn revoke(&self, artist: ArtistId, id: KeyId) -> Result<bool, StoreError> {
        let listed = list_key(artist, id);
        let Some(ListRow { hash, .. }) = self.0.get(&listed).await? else { return Ok(false) };
        let count = self
            .count(artist)
            .update_expression("ADD live :minus_one")
            .expression_attribute_values(":minus_one", number(-1));
        let mut writes = vec![TransactWriteItem::builder().update(count.build()?).build()];
        for key in [hash_key(&hash), listed] {
            let delete = Delete::builder().table_name(&self.0.name).set_key(Some(key.item()));
            let delete = delete.condition_expression("attribute_exists(pk)").build()?;
            writes.push(TransactWriteItem::builder().delete(delete).build());
        }
        self.0.write_together(writes).await
    }

    fn count(&self, artist: ArtistId) -> aws_sdk_dynamodb::types::builders::UpdateBuilder {
        let key = Key::new(artist_partition(artist), "COUNT");
        Update::builder().table_name(&self.0.name).set_key(Some(key.item()))
    }
}

fn artist_partition(artist: ArtistId) -> String {
    format!("ARTIST#{artist}")
}

fn hash_key(hash: &str) -> Key {
    Key::new(format!("KEY#{hash}"), "KEY")
}

fn list_key(artist: ArtistId, id: KeyId) -> Key {
    Key::new(artist_partition(artist), format!("KEY#{id}"))
}
