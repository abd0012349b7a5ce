//! Files: content by CID, uploads that become content, and each artist's day. Rows: docs/data-model.md, Media.

use std::{collections::BTreeMap, sync::Arc};

use aws_sdk_dynamodb::types::{AttributeValue, Put, ReturnValue, TransactWriteItem, Update, builders::UpdateBuilder};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::{pins::PinJob, transactions::Pool};
use crate::{
    aws::Dispatch,
    model::{ArtistId, Cid, DAY, Dag, FileHash, Reason, UploadId, UploadType},
    store::{
        artist::rows,
        engine::{
            index::Bulk,
            table::{ArtistTable, PrimaryKey, StoreError, number, row, text, unless_refused, updating},
        },
    },
};

/// An artist counts among the newcomers for this many seconds after storing a first file.
const PROBATION: u64 = 7 * DAY;

/// A newcomer's part of what others may store on a day.
const NEWCOMER_SHARE: u64 = 10;

/// How much may be stored, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct StorageLimits {
    /// By an artist in all.
    pub total: u64,
    /// By an artist on a day; a newcomer a tenth of it.
    pub daily: u64,
    /// By all newcomers on a day.
    pub newcomers_daily: u64,
    /// By all others on a day.
    pub established_daily: u64,
}

/// Why a file doesn't fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageRefusal {
    /// The artist has too many.
    Total {
        /// Bytes that are left.
        left: u64,
    },
    /// The artist stored too much today.
    Day {
        /// Bytes that are left.
        left: u64,
        /// Bytes of a day.
        most: u64,
    },
    /// The artist's pool did.
    Pool(Pool),
}

/// Seconds in which an upload must be completed.
pub const UPLOAD_LIFETIME: u64 = 24 * 60 * 60;

/// A file that is served under its CID.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredContent {
    /// What it was filed from, which tells it from the same content filed again.
    pub origin: String,
    /// Its media type, as found.
    pub mime: String,
    /// In bytes.
    pub size: u64,
}

/// Content of a CID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptContent {
    /// A file.
    Stored(StoredContent),
    /// Nothing any more, or never: the operator removed the file.
    Removed(Reason),
}

#[derive(Deserialize)]
struct ContentRow {
    #[serde(default)]
    removed: Option<Reason>,
    deleting_until: Option<u64>,
    #[serde(flatten)]
    stored: Option<StoredContent>,
}

/// A block of a file that has several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum StoredBlock {
    /// A part of a file.
    Leaf {
        /// The file.
        file: Cid,
        /// Its first byte there.
        offset: u64,
        /// In bytes.
        size: u64,
    },
    /// Links to further blocks.
    Node {
        /// The block itself.
        block: ByteBuf,
    },
}

/// An upload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Upload {
    /// S3's id of it.
    pub multipart: String,
    /// Type that the client says it has.
    pub declared: UploadType,
    /// In bytes.
    pub size: u64,
    /// Hash that the client says it has.
    pub sha256: Option<FileHash>,
    /// How far it is hashed.
    #[serde(default)]
    pub progress: Option<HashProgress>,
    /// How it ended.
    #[serde(default)]
    pub outcome: Option<UploadOutcome>,
    /// In Unix seconds.
    pub expires_at: u64,
}

/// A file that is hashed in part.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HashProgress {
    /// Its tree.
    pub dag: Dag,
    /// State of its plain hash.
    pub sha256: ByteBuf,
    /// Its media type, as found.
    pub mime: String,
}

/// How an upload ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UploadOutcome {
    /// It is content.
    Stored {
        /// Its CID.
        cid: Cid,
        /// Its media type, as found.
        mime: String,
    },
    /// It was deleted.
    Refused(String),
}

/// Files.
#[derive(Clone)]
pub struct Media(pub(super) ArtistTable);

#[derive(Default, Deserialize)]
struct Stored {
    #[serde(default)]
    stored_bytes: u64,
    since: Option<u64>,
}

#[derive(Deserialize)]
struct Usage {
    used_bytes: u64,
}

impl Media {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self(artists)
    }

    /// The content of this CID. One read.
    pub async fn content(&self, cid: Cid) -> Result<Option<KeptContent>, StoreError> {
        let row: Option<ContentRow> = self.0.get(&rows::content(cid)).await?;
        let row = row.filter(|row| row.deleting_until.is_none());
        Ok(row.and_then(|row| row.removed.map(KeptContent::Removed).or(row.stored.map(KeptContent::Stored))))
    }

    /// The file with this CID, unless it is removed. One read.
    pub async fn stored(&self, cid: Cid) -> Result<Option<StoredContent>, StoreError> {
        Ok(match self.content(cid).await? {
            Some(KeptContent::Stored(content)) => Some(content),
            Some(KeptContent::Removed(_)) | None => None,
        })
    }

    /// Whether a file is kept here, removed or not. One read.
    pub async fn is_kept(&self, cid: Cid) -> Result<bool, StoreError> {
        let row: Option<ContentRow> = self.0.get(&rows::content(cid)).await?;
        Ok(row.is_some_and(|row| row.stored.is_some()))
    }

    /// The writes that remove a file for `reason`, or keep it from coming, or bring it back; and have it unpinned or
    /// pinned. One read.
    pub(in crate::store::artist) async fn removing(
        &self,
        cid: Cid,
        reason: Option<Reason>,
    ) -> Result<[TransactWriteItem; 2], StoreError> {
        let (key, job) = (rows::content(cid), PinJob::new(cid));
        let update = self.content_update(cid);
        let change = match reason {
            Some(reason) => {
                let update = update.update_expression("SET removed = :reason");
                updating(update.expression_attribute_values(":reason", text(reason)))?
            }
            None if self.is_kept(cid).await? => updating(update.update_expression("REMOVE removed"))?,
            None => self.0.deletion(&key)?,
        };
        Ok([change, self.0.replacement(&job.key(), &job)?])
    }

    /// Adds content of an artist, and queues it to be pinned; `false` if it is there already, or being deleted. One
    /// transaction.
    pub async fn add_content(
        &self,
        artist: ArtistId,
        cid: Cid,
        content: &StoredContent,
        now: u64,
    ) -> Result<bool, StoreError> {
        self.0.write_together(self.adding(artist, cid, content, now)?.into()).await
    }

    pub(super) fn adding(
        &self,
        artist: ArtistId,
        cid: Cid,
        content: &StoredContent,
        now: u64,
    ) -> Result<[TransactWriteItem; 3], StoreError> {
        let job = PinJob::new(cid);
        let put = Put::builder().table_name(&self.0.name).set_item(Some(row(&rows::content(cid), content)?));
        let put = put
            .condition_expression("attribute_not_exists(pk) OR deleting_until < :now")
            .expression_attribute_values(":now", number(now));
        Ok([
            TransactWriteItem::builder().put(put.build()?).build(),
            self.0.replacement(&job.key(), &job)?,
            self.counting(artist, number(content.size))?,
        ])
    }

    /// Adds `bytes`, less with a minus, to what an artist stored in all.
    pub(super) fn counting(&self, artist: ArtistId, bytes: AttributeValue) -> Result<TransactWriteItem, StoreError> {
        let total = Update::builder().table_name(&self.0.name).set_key(Some(rows::stored_bytes(artist).item()));
        let total = total.update_expression("ADD stored_bytes :bytes");
        updating(total.expression_attribute_values(":bytes", bytes))
    }

    pub(super) fn content_update(&self, cid: Cid) -> UpdateBuilder {
        Update::builder().table_name(&self.0.name).set_key(Some(rows::content(cid).item()))
    }

    /// Notes that a removed file isn't pinned any more. One transaction.
    pub async fn finish_unpin(&self, job: &PinJob) -> Result<(), StoreError> {
        self.0.write_together(vec![job.removal(&self.0)?]).await.map(drop)
    }

    /// Notes that a file is pinned. One transaction.
    pub async fn finish_pin(&self, job: &PinJob, now: u64) -> Result<(), StoreError> {
        let update = self.content_update(job.cid).update_expression("SET pinned_at = :now");
        // A file that was deleted meanwhile is unpinned by the next run.
        let update = update.condition_expression("attribute_exists(pk)");
        let update = updating(update.expression_attribute_values(":now", number(now)))?;
        self.0.write_together(vec![job.removal(&self.0)?, update]).await.map(drop)
    }

    /// The block with this CID, of a file that has several. One read.
    pub async fn block(&self, cid: Cid) -> Result<Option<StoredBlock>, StoreError> {
        self.0.get(&rows::block(cid)).await
    }

    /// Adds blocks. One write for each.
    pub async fn add_blocks(&self, blocks: BTreeMap<Cid, StoredBlock>) -> Result<(), StoreError> {
        let mut writes = Vec::new();
        for (cid, block) in blocks {
            let key = rows::block(cid);
            let item = row(&key, &block)?;
            writes.push((key, Some(Arc::new(item))));
        }
        Bulk::new(self.0.0.clone()).write(writes).await
    }

    /// An artist's upload that isn't expired. One read.
    pub async fn upload(&self, artist: ArtistId, id: UploadId, now: u64) -> Result<Option<Upload>, StoreError> {
        let upload: Option<Upload> = self.0.get(&rows::upload(artist, id)).await?;
        Ok(upload.filter(|upload| upload.expires_at > now))
    }

    /// Acquires the lease on hashing an upload, until it is saved or `until`; `None` if another request holds it. Returns
    /// the upload as it stands then. One write.
    pub async fn lease_hashing(
        &self,
        artist: ArtistId,
        id: UploadId,
        now: u64,
        until: u64,
    ) -> Result<Option<Upload>, StoreError> {
        let key = rows::upload(artist, id);
        let call = self.0.client.update_item().table_name(&self.0.name).set_key(Some(key.item()));
        let call = call
            .update_expression("SET hashing_until = :until")
            .condition_expression(
                "attribute_exists(pk) AND (attribute_not_exists(hashing_until) OR hashing_until < :now)",
            )
            .expression_attribute_values(":until", number(until))
            .expression_attribute_values(":now", number(now))
            .return_values(ReturnValue::AllNew);
        let Some(answer) = unless_refused(call.dispatch().await)? else { return Ok(None) };
        Ok(answer.attributes.map(serde_dynamo::from_item).transpose()?)
    }

    /// Stores an upload as it stands, which releases the lease on hashing. One write.
    pub async fn save_upload(&self, artist: ArtistId, id: UploadId, upload: &Upload) -> Result<(), StoreError> {
        let item = row(&rows::upload(artist, id), upload)?;
        self.0.client.put_item().table_name(&self.0.name).set_item(Some(item)).dispatch().await?;
        Ok(())
    }

    /// Counts `bytes` of an artist's day and of the pool's; the bytes left of the former, and what it has, or why they don't fit. A read and
    /// two writes, a third the first time.
    pub async fn charge(
        &self,
        artist: ArtistId,
        bytes: u64,
        limits: &StorageLimits,
        now: u64,
    ) -> Result<Result<(u64, u64), StorageRefusal>, StoreError> {
        let total = rows::stored_bytes(artist);
        let Stored { stored_bytes, since } = self.0.get(&total).await?.unwrap_or_default();
        let left = limits.total.saturating_sub(stored_bytes);
        if bytes > left {
            return Ok(Err(StorageRefusal::Total { left }));
        }
        let (pool, most, of_all) = match since {
            Some(since) if since + PROBATION <= now => (Pool::Established, limits.daily, limits.established_daily),
            _ => (Pool::Newcomers, limits.daily / NEWCOMER_SHARE, limits.newcomers_daily),
        };
        let day = rows::uploaded_bytes(artist, now / DAY);
        let used = match self.add_used(&day, bytes, most, now).await? {
            Ok(used) => used,
            Err(used) => return Ok(Err(StorageRefusal::Day { left: most.saturating_sub(used), most })),
        };
        if self.add_used(&rows::uploads_of_pool(pool.word(), now / DAY), bytes, of_all, now).await?.is_err() {
            let back = self.0.client.update_item().table_name(&self.0.name).set_key(Some(day.item()));
            let back = back.update_expression("ADD used_bytes :back");
            back.expression_attribute_values(":back", AttributeValue::N(format!("-{bytes}"))).dispatch().await?;
            return Ok(Err(StorageRefusal::Pool(pool)));
        }
        if since.is_none() {
            let begin = self.0.client.update_item().table_name(&self.0.name).set_key(Some(total.item()));
            let begin = begin.update_expression("SET since = if_not_exists(since, :now)");
            begin.expression_attribute_values(":now", number(now)).dispatch().await?;
        }
        Ok(Ok((most.saturating_sub(used), most)))
    }

    /// Adds to a day's counter, and returns it; as an error if it would exceed `most`. A write; refused, a read.
    async fn add_used(
        &self,
        key: &PrimaryKey,
        bytes: u64,
        most: u64,
        now: u64,
    ) -> Result<Result<u64, u64>, StoreError> {
        let table = &self.0;
        let used = |usage: Option<Usage>| usage.map_or(0, |usage| usage.used_bytes);
        let Some(rest) = most.checked_sub(bytes) else { return Ok(Err(used(table.get(key).await?))) };
        let call = table.client.update_item().table_name(&table.name).set_key(Some(key.item()));
        let call = call
            .update_expression("SET expires_at = :expiry ADD used_bytes :bytes")
            .condition_expression("attribute_not_exists(used_bytes) OR used_bytes <= :rest")
            .expression_attribute_values(":expiry", number((now / DAY + 2) * DAY))
            .expression_attribute_values(":bytes", number(bytes))
            .expression_attribute_values(":rest", number(rest))
            .return_values(ReturnValue::AllNew);
        match unless_refused(call.dispatch().await)? {
            Some(answer) => Ok(Ok(used(answer.attributes.map(serde_dynamo::from_item).transpose()?))),
            None => Ok(Err(used(table.get(key).await?))),
        }
    }
}
