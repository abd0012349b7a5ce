//! What is known of the files that documents name, and the queue to find it out. Keyed by the document's URI, so that a page
//! reads both together.

use aws_sdk_dynamodb::types::TransactWriteItem;
use serde::{Deserialize, Serialize};

use crate::{
    model::{ChainId, Content, ContentType, Metadata, Previews},
    store::{
        chain::rows,
        engine::table::{ChainTable, PrimaryKey, StoreError, Table},
    },
};

/// The files that documents name.
#[derive(Clone)]
pub struct PreviewQueue(ChainTable);

/// A document whose files are to be looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuePreviews {
    /// Chain whose rows name the document.
    pub chain: ChainId,
    /// [`super::Documents::uri_hash`] of its URI.
    pub uri_hash: String,
    /// URI of its picture; empty without one.
    pub picture: String,
    /// Its content.
    pub content: Content,
    /// Number of attempts that didn't end well.
    pub failures: u32,
    /// In Unix seconds; 0 for a new one, so that it comes first.
    due: u64,
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

    /// Stores what was found out. One transaction.
    pub async fn finish(&self, taken: &DuePreviews, previews: Previews) -> Result<(), StoreError> {
        let row = PreviewsRow { uri_hash: taken.uri_hash.clone(), previews };
        let key = previews_key(taken.chain, &taken.uri_hash);
        self.0.write_together(vec![self.0.replacement(&key, &row)?, self.0.deletion(&taken.key())?]).await?;
        Ok(())
    }
}

impl DuePreviews {
    /// Of a document that was just fetched; `None` if it names no file.
    pub(super) fn of(chain: ChainId, uri_hash: &str, document: &Metadata) -> Option<Self> {
        let is_picture = matches!(document.content_type(), Some(ContentType::Image));
        let content = Some(&document.content.uri).filter(|_| is_picture);
        let picture = Some(&document.image).filter(|image| !image.is_empty()).or(content).cloned().unwrap_or_default();
        let (uri_hash, content) = (uri_hash.to_owned(), document.content.clone());
        let names_any = !picture.is_empty() || !content.uri.is_empty();
        names_any.then_some(Self { chain, uri_hash, picture, content, failures: 0, due: 0 })
    }

    pub(super) fn key(&self) -> PrimaryKey {
        rows::due_preview(self.due, self.chain, &self.uri_hash)
    }

    /// Fails its transaction if another run had it first.
    fn removal(&self, table: &Table) -> Result<TransactWriteItem, StoreError> {
        table.removal(&self.key())
    }
}

pub(in crate::store) fn previews_key(chain: ChainId, uri_hash: &str) -> PrimaryKey {
    rows::previews(chain, uri_hash)
}
