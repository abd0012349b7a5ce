//! Files by who uploaded them, and the documents kept here that name them. Several artists may hold the same content: it
//! goes with the last of them. Rows: docs/data-model.md, Media.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, Delete, TransactWriteItem};
use serde::{Deserialize, Serialize};

use super::{
    media::{Media, StoredContent},
    pins::PinJob,
};
use crate::{
    aws::Dispatch,
    model::{ArtistId, Cid, Reason, UploadId},
    store::{
        artist::rows,
        engine::table::{StoreError, number, text, updating},
    },
};

/// Seconds in which content that is let go of can't be filed again; longer than a request, which deletes its bytes.
const DELETING: u64 = 60;

/// Documents of a file that are looked at.
pub const MAX_NAMINGS: usize = 100;

/// A file that an artist uploaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadedFile {
    /// The upload.
    pub upload: UploadId,
    /// The file's CID.
    pub cid: Cid,
    /// Where its bytes are, and what they are.
    #[serde(flatten)]
    pub content: StoredContent,
    /// When it was uploaded, in Unix seconds.
    pub at: u64,
}

/// A document kept here that names a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Naming {
    /// The document.
    pub document: Cid,
    /// When it was last stored, in Unix seconds.
    pub at: u64,
}

/// What became of a file's content.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct FileState {
    /// Why the operator removed it.
    #[serde(default)]
    pub removed: Option<Reason>,
    /// How often a document was stored that names it.
    #[serde(default)]
    pub names: u64,
    origin: Option<String>,
    #[serde(default = "one")]
    holders: u64,
    deleting_until: Option<u64>,
}

/// How an artist's file was let go of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    /// It wasn't: somebody named it or came to hold it meanwhile.
    Changed,
    /// It is gone, or was filed again by others.
    Gone,
    /// Nobody holds it any more, and its bytes are to go.
    Last,
    /// Others still hold it.
    Shared,
}

#[derive(Deserialize)]
struct KeyedState {
    pk: String,
    #[serde(flatten)]
    state: FileState,
}

/// The upload that an artist's file came with.
#[derive(Serialize, Deserialize)]
struct FileByCid {
    upload: UploadId,
}

fn one() -> u64 {
    1
}

impl Media {
    /// Adds new content that an artist uploaded, and queues it to be pinned; `false` if it is there already. One
    /// transaction.
    pub async fn add_file(&self, artist: ArtistId, file: &UploadedFile) -> Result<bool, StoreError> {
        let by_cid = self.0.replacement(&rows::file_by_cid(artist, file.cid), &FileByCid { upload: file.upload })?;
        let mut writes = Vec::from(self.adding(artist, file.cid, &file.content, file.at)?);
        writes.extend([self.0.insertion(&rows::file(artist, file.upload), file)?, by_cid]);
        self.0.write_together(writes).await
    }

    /// Has an artist hold content that is there already, unless the artist does; `false` if it is gone. A transaction, and
    /// a read if that is refused.
    pub async fn share_file(&self, artist: ArtistId, file: &UploadedFile) -> Result<bool, StoreError> {
        let update = self
            .content_update(file.cid)
            .update_expression("SET holders = if_not_exists(holders, :one) + :one")
            .condition_expression(
                "origin = :origin AND attribute_not_exists(removed) AND attribute_not_exists(deleting_until)",
            )
            .expression_attribute_values(":origin", text(&file.content.origin))
            .expression_attribute_values(":one", number(1));
        let key = rows::file_by_cid(artist, file.cid);
        let writes = vec![
            updating(update)?,
            self.0.insertion(&key, &FileByCid { upload: file.upload })?,
            self.0.insertion(&rows::file(artist, file.upload), file)?,
            self.counting(artist, number(file.content.size))?,
        ];
        Ok(self.0.write_together(writes).await? || self.0.get::<FileByCid>(&key).await?.is_some())
    }

    /// Returns an artist's files, the newest first, from before an upload on. One Query.
    pub async fn files(
        &self,
        artist: ArtistId,
        before: Option<UploadId>,
        limit: u32,
    ) -> Result<Vec<UploadedFile>, StoreError> {
        const FIRST: &str = "UPLOAD#";
        let last = before.map_or_else(|| format!("{FIRST}~"), |upload| rows::file(artist, upload).sk);
        let call = self
            .0
            .query()
            .key_condition_expression("pk = :files AND sk BETWEEN :first AND :last")
            .expression_attribute_values(":files", text(rows::files(artist)))
            .expression_attribute_values(":first", text(FIRST))
            .expression_attribute_values(":last", text(&last))
            .scan_index_forward(false)
            // The one before is among them.
            .limit(i32::try_from(limit.saturating_add(1)).unwrap_or(i32::MAX));
        let found: Vec<UploadedFile> = serde_dynamo::from_items(call.dispatch().await?.items.unwrap_or_default())?;
        let rows = usize::try_from(limit).unwrap_or(usize::MAX);
        Ok(found.into_iter().filter(|file| Some(file.upload) != before).take(rows).collect())
    }

    /// Returns one of an artist's files. One read.
    pub async fn file(&self, artist: ArtistId, upload: UploadId) -> Result<Option<UploadedFile>, StoreError> {
        self.0.get(&rows::file(artist, upload)).await
    }

    /// Returns what became of content, by CID. One read per 100.
    pub async fn states(&self, cids: &[Cid]) -> Result<HashMap<Cid, FileState>, StoreError> {
        let keys = cids.iter().map(|cid| (rows::content(*cid).pk, *cid)).collect::<HashMap<_, _>>();
        let found: Vec<KeyedState> = self.0.get_many(keys.values().map(|cid| rows::content(*cid))).await?;
        Ok(found.into_iter().filter_map(|row| Some((*keys.get(&row.pk)?, row.state))).collect())
    }

    /// Notes that a document names a file that is kept here; `false` if it isn't any more. One transaction.
    pub async fn note_naming(&self, cid: Cid, naming: Naming) -> Result<bool, StoreError> {
        let update = self
            .content_update(cid)
            .update_expression("ADD #names :one")
            .condition_expression("attribute_exists(origin) AND attribute_not_exists(deleting_until)")
            .expression_attribute_names("#names", "names")
            .expression_attribute_values(":one", number(1));
        let row = self.0.replacement(&rows::naming(cid, naming.document), &naming)?;
        self.0.write_together(vec![updating(update)?, row]).await
    }

    /// Returns at most [`MAX_NAMINGS`] documents that name a file. One Query.
    pub async fn namings(&self, cid: Cid) -> Result<Vec<Naming>, StoreError> {
        let call = self
            .0
            .query()
            .key_condition_expression("pk = :file")
            .expression_attribute_values(":file", text(rows::namings(cid)))
            .limit(i32::try_from(MAX_NAMINGS).unwrap_or(i32::MAX));
        Ok(serde_dynamo::from_items(call.dispatch().await?.items.unwrap_or_default())?)
    }

    /// Lets go of the content of an artist's file as it was `seen`. With its last holder it is unpinned, and for a minute
    /// nobody can file it again, in which its bytes go and [`Media::delete_file`] deletes its row. A transaction, or nothing.
    pub async fn release(
        &self,
        file: &UploadedFile,
        seen: Option<&FileState>,
        now: u64,
    ) -> Result<Released, StoreError> {
        let Some(seen) = seen.filter(|seen| seen.origin.as_ref() == Some(&file.content.origin)) else {
            return Ok(Released::Gone);
        };
        if seen.holders > 1 {
            return Ok(Released::Shared);
        }
        let job = PinJob::new(file.cid);
        let writes = vec![self.releasing(file, seen, now)?, self.0.replacement(&job.key(), &job)?];
        Ok(if self.0.write_together(writes).await? { Released::Last } else { Released::Changed })
    }

    fn releasing(&self, file: &UploadedFile, seen: &FileState, now: u64) -> Result<TransactWriteItem, StoreError> {
        let update = self
            .content_update(file.cid)
            .update_expression("SET deleting_until = :until")
            .condition_expression(
                "origin = :origin AND attribute_not_exists(removed) AND (attribute_not_exists(holders) OR holders = :one) \
                 AND (attribute_not_exists(#names) AND :names = :zero OR #names = :names)",
            )
            .expression_attribute_names("#names", "names")
            .expression_attribute_values(":until", number(now + DELETING))
            .expression_attribute_values(":origin", text(&file.content.origin))
            .expression_attribute_values(":names", number(seen.names))
            .expression_attribute_values(":zero", number(0))
            .expression_attribute_values(":one", number(1));
        updating(update)
    }

    fn deleting(&self, file: &UploadedFile) -> Result<TransactWriteItem, StoreError> {
        let delete = Delete::builder()
            .table_name(&self.0.name)
            .set_key(Some(rows::content(file.cid).item()))
            .condition_expression("origin = :origin AND attribute_exists(deleting_until)")
            .expression_attribute_values(":origin", text(&file.content.origin));
        Ok(TransactWriteItem::builder().delete(delete.build()?).build())
    }

    /// Deletes an artist's file, and takes it off the artist's total; with the last holder also the content's row, with
    /// another one the holder. `false` if something changed meanwhile. A read and a transaction.
    pub async fn delete_file(
        &self,
        artist: ArtistId,
        file: &UploadedFile,
        released: Released,
    ) -> Result<bool, StoreError> {
        let key = rows::file_by_cid(artist, file.cid);
        let size = AttributeValue::N(format!("-{}", file.content.size));
        let mut writes = vec![
            self.0.removal(&rows::file(artist, file.upload))?,
            self.0.deletion(&rows::upload(artist, file.upload))?,
            self.counting(artist, size)?,
        ];
        let by_cid: Option<FileByCid> = self.0.get(&key).await?;
        // Not that of the same content uploaded again.
        if by_cid.is_some_and(|by_cid| by_cid.upload == file.upload) {
            writes.push(self.0.deletion(&key)?);
        }
        if released == Released::Last {
            writes.push(self.deleting(file)?);
        }
        if released == Released::Shared {
            let update = self
                .content_update(file.cid)
                .update_expression("ADD holders :less")
                .condition_expression("holders > :one")
                .expression_attribute_values(":less", AttributeValue::N("-1".to_owned()))
                .expression_attribute_values(":one", number(1));
            writes.push(updating(update)?);
        }
        self.0.write_together(writes).await
    }
}
