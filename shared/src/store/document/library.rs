//! Documents that were read before, by the hash of their URI.

use serde::{Deserialize, Serialize};

use crate::{
    aws::Dispatch,
    model::Metadata,
    store::{
        document::rows,
        engine::table::{DocumentTable, StoreError, row},
    },
};

/// All documents that were read from the web.
#[derive(Clone)]
pub struct Library(DocumentTable);

/// A document, and when it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadDocument {
    /// The document.
    pub document: Metadata,
    /// In Unix seconds.
    pub read_at: u64,
}

impl Library {
    /// Uses the document table.
    pub fn new(documents: DocumentTable) -> Self {
        Self(documents)
    }

    /// The document at a URI, by its hash, as it was read last. One read.
    pub async fn find(&self, uri_hash: &str) -> Result<Option<ReadDocument>, StoreError> {
        self.0.get(&rows::read_document(uri_hash)).await
    }

    /// Stores the document that was read at a URI with this hash. One write.
    pub async fn keep(&self, uri_hash: &str, read: &ReadDocument) -> Result<(), StoreError> {
        let item = row(&rows::read_document(uri_hash), read)?;
        self.0.client.put_item().table_name(&self.0.name).set_item(Some(item)).dispatch().await?;
        Ok(())
    }
}
