//! What is known of the files that documents name, and the queue to find it out. Keyed by the document's URI, so that a page
//! reads both together.

use aws_sdk_dynamodb::types::TransactWriteItem;
use serde::{Deserialize, Serialize};

use crate::{
    aws::Dispatch,
    model::{ArtistId, ChainId, Cid, Content, ContentType, Metadata, Picture, Previews},
    store::{
        chain::rows,
        engine::table::{ChainTable, PrimaryKey, StoreError, Table, row},
    },
};

/// The files that documents name.
#[derive(Clone)]
pub struct PreviewQueue(ChainTable);

/// Files that are to be looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuePreviews {
    /// What names them.
    #[serde(flatten)]
    pub owner: PreviewOwner,
    /// URI of the picture; empty without one.
    pub picture: String,
    /// The content; empty without one.
    pub content: Content,
    /// Number of attempts that didn't end well.
    pub failures: u32,
    /// In Unix seconds; 0 for a new one, so that it comes first.
    due: u64,
}

/// What a picture belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PreviewOwner {
    /// A metadata document.
    Document {
        /// Chain whose rows name the document.
        chain: ChainId,
        /// [`super::Documents::uri_hash`] of its URI.
        uri_hash: String,
    },
    /// An artist, whose picture it is.
    Artist {
        /// The artist.
        artist: ArtistId,
    },
}

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct PreviewsRow {
    pub(in crate::store) uri_hash: String,
    #[serde(flatten)]
    pub(in crate::store) previews: Previews,
}

impl PreviewQueue {
    /// Uses the chain table.
    pub fn new(chain: ChainTable) -> Self {
        Self(chain)
    }

    /// What is due at `now` (Unix seconds): new documents first, then the longest overdue. One Query.
    pub async fn due(&self, now: u64, limit: i32) -> Result<Vec<DuePreviews>, StoreError> {
        self.0.due(rows::due_previews(), now, limit).await
    }

    /// Takes a document for this run: until `again` (Unix seconds) nobody else does, not even after a run that was killed by
    /// it. `None` if another run has it. One transaction.
    pub async fn take(&self, due: &DuePreviews, again: u64) -> Result<Option<DuePreviews>, StoreError> {
        let taken = DuePreviews { failures: due.failures.saturating_add(1), due: again, ..due.clone() };
        let writes = vec![due.removal(&self.0)?, self.0.replacement(&taken.key(), &taken)?];
        Ok(self.0.write_together(writes).await?.then_some(taken))
    }

    /// Stores what was found out of a document's files; an artist's row is another table's. One transaction.
    pub async fn finish(&self, taken: &DuePreviews, previews: Previews) -> Result<(), StoreError> {
        let mut writes = vec![self.0.deletion(&taken.key())?];
        if let PreviewOwner::Document { chain, uri_hash } = &taken.owner {
            let row = PreviewsRow { uri_hash: uri_hash.clone(), previews };
            writes.push(self.0.replacement(&previews_key(*chain, uri_hash), &row)?);
        }
        self.0.write_together(writes).await?;
        Ok(())
    }

    /// The picture of the document whose URI has this hash, if it has previews. One read.
    pub async fn picture(&self, chain: ChainId, uri_hash: &str) -> Result<Option<Picture>, StoreError> {
        let row: Option<PreviewsRow> = self.0.get(&previews_key(chain, uri_hash)).await?;
        Ok(row.and_then(|row| row.previews.picture))
    }

    /// Queues an artist's picture. One write.
    pub async fn add_avatar(&self, artist: ArtistId, avatar: Cid) -> Result<(), StoreError> {
        let owner = PreviewOwner::Artist { artist };
        let due = DuePreviews { owner, picture: avatar.uri(), content: Content::default(), failures: 0, due: 0 };
        let item = row(&due.key(), &due)?;
        self.0.client.put_item().table_name(&self.0.name).set_item(Some(item)).dispatch().await?;
        Ok(())
    }
}

impl DuePreviews {
    /// Of a document that was just fetched; `None` if it names no file.
    pub(super) fn of(chain: ChainId, uri_hash: &str, document: &Metadata) -> Option<Self> {
        let is_picture = matches!(document.content_type(), Some(ContentType::Image));
        let content = Some(&document.content.uri).filter(|_| is_picture);
        let picture = Some(&document.image).filter(|image| !image.is_empty()).or(content).cloned().unwrap_or_default();
        let owner = PreviewOwner::Document { chain, uri_hash: uri_hash.to_owned() };
        let content = document.content.clone();
        let names_any = !picture.is_empty() || !content.uri.is_empty();
        names_any.then_some(Self { owner, picture, content, failures: 0, due: 0 })
    }

    pub(super) fn key(&self) -> PrimaryKey {
        match &self.owner {
            PreviewOwner::Document { chain, uri_hash } => rows::due_preview(self.due, *chain, uri_hash),
            PreviewOwner::Artist { artist } => rows::due_avatar(self.due, *artist),
        }
    }

    /// Fails its transaction if another run had it first.
    fn removal(&self, table: &Table) -> Result<TransactWriteItem, StoreError> {
        table.removal(&self.key())
    }
}

pub(in crate::store) fn previews_key(chain: ChainId, uri_hash: &str) -> PrimaryKey {
    rows::previews(chain, uri_hash)
}
