//! Files: content by CID, uploads that become content, and each artist's day. Rows: docs/data-model.md, Media.

use std::{collections::BTreeMap, sync::Arc};

use aws_sdk_dynamodb::types::{ReturnValue, TransactWriteItem, Update};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::{pins::PinJob, transactions::DAY};
use crate::{
    aws::Dispatch,
    model::{ArtistId, Cid, Dag, FileHash, Reason, UploadId, UploadType},
    store::{
        artist::rows,
        engine::{
            index::Bulk,
            table::{ArtistTable, StoreError, number, row, text, unless_refused, updating},
        },
    },
};

/// Seconds in which an upload must be completed.
pub const UPLOAD_LIFETIME: u64 = 24 * 60 * 60;

/// A file that is served under its CID.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredContent {
    /// Its object in the bucket.
    pub object: String,
    /// Its media type, as found.
    pub mime: String,
    /// In bytes.
    pub size: u64,
}

/// What is under a CID.
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
    #[serde(flatten)]
    stored: Option<StoredContent>,
}

/// A block of a file that has several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum StoredBlock {
    /// A part of an object.
    Leaf {
        /// The object.
        object: String,
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
pub struct Media(ArtistTable);

#[derive(Deserialize)]
struct Usage {
    used_bytes: u64,
}

impl Media {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self(artists)
    }

    /// What is under this CID. One read.
    pub async fn content(&self, cid: Cid) -> Result<Option<KeptContent>, StoreError> {
        let row: Option<ContentRow> = self.0.get(&rows::content(cid)).await?;
        Ok(row.and_then(|row| row.removed.map(KeptContent::Removed).or(row.stored.map(KeptContent::Stored))))
    }

    /// The file with this CID, unless it is removed. One read.
    pub async fn stored(&self, cid: Cid) -> Result<Option<StoredContent>, StoreError> {
        Ok(match self.content(cid).await? {
            Some(KeptContent::Stored(content)) => Some(content),
            Some(KeptContent::Removed(_)) | None => None,
        })
    }

    /// The object of a file, removed or not. One read.
    pub async fn object(&self, cid: Cid) -> Result<Option<String>, StoreError> {
        let row: Option<ContentRow> = self.0.get(&rows::content(cid)).await?;
        Ok(row.and_then(|row| row.stored).map(|stored| stored.object))
    }

    /// The writes that remove a file for `reason`, or keep it from coming, or bring it back; and have it unpinned or
    /// pinned. One read.
    pub(in crate::store::artist) async fn removing(
        &self,
        cid: Cid,
        reason: Option<Reason>,
    ) -> Result<[TransactWriteItem; 2], StoreError> {
        let (key, job) = (rows::content(cid), PinJob::new(cid));
        let update = Update::builder().table_name(&self.0.name).set_key(Some(key.item()));
        let change = match reason {
            Some(reason) => {
                let update = update.update_expression("SET removed = :reason");
                updating(update.expression_attribute_values(":reason", text(reason)))?
            }
            None if self.object(cid).await?.is_some() => updating(update.update_expression("REMOVE removed"))?,
            None => self.0.deletion(&key)?,
        };
        Ok([change, self.0.replacement(&job.key(), &job)?])
    }

    /// Adds content, and queues it to be pinned; `false` if it is there already. One transaction.
    pub async fn add_content(&self, cid: Cid, content: &StoredContent) -> Result<bool, StoreError> {
        let job = PinJob::new(cid);
        let writes = vec![self.0.insertion(&rows::content(cid), content)?, self.0.replacement(&job.key(), &job)?];
        self.0.write_together(writes).await
    }

    /// Notes that a removed file isn't pinned any more. One transaction.
    pub async fn finish_unpin(&self, job: &PinJob) -> Result<(), StoreError> {
        self.0.write_together(vec![job.removal(&self.0)?]).await.map(drop)
    }

    /// Notes that a file is pinned. One transaction.
    pub async fn finish_pin(&self, job: &PinJob, now: u64) -> Result<(), StoreError> {
        let update = Update::builder().table_name(&self.0.name).set_key(Some(rows::content(job.cid).item()));
        let update = update.update_expression("SET pinned_at = :now").expression_attribute_values(":now", number(now));
        self.0.write_together(vec![job.removal(&self.0)?, updating(update)?]).await?;
        Ok(())
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

    /// Counts `bytes` of an artist's day; the bytes left, or as an error those that were. A write; refused, a read.
    pub async fn charge(
        &self,
        artist: ArtistId,
        bytes: u64,
        most: u64,
        now: u64,
    ) -> Result<Result<u64, u64>, StoreError> {
        let (day, table) = (now / DAY, &self.0);
        let key = rows::uploaded_bytes(artist, day);
        let Some(rest) = most.checked_sub(bytes) else { return Ok(Err(most)) };
        let call = table.client.update_item().table_name(&table.name).set_key(Some(key.item()));
        let call = call
            .update_expression("SET expires_at = :expiry ADD used_bytes :bytes")
            .condition_expression("attribute_not_exists(used_bytes) OR used_bytes <= :rest")
            .expression_attribute_values(":expiry", number((day + 2) * DAY))
            .expression_attribute_values(":bytes", number(bytes))
            .expression_attribute_values(":rest", number(rest))
            .return_values(ReturnValue::AllNew);
        let used = |usage: Option<Usage>| most.saturating_sub(usage.map_or(0, |usage| usage.used_bytes));
        match unless_refused(call.dispatch().await)? {
            Some(answer) => Ok(Ok(used(answer.attributes.map(serde_dynamo::from_item).transpose()?))),
            None => Ok(Err(used(table.get(&key).await?))),
        }
    }
}
