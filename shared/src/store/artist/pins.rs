//! Files that are to be pinned by a service of the IPFS network. Rows: docs/data-model.md, Media.

use aws_sdk_dynamodb::types::TransactWriteItem;
use serde::{Deserialize, Serialize};

use crate::{
    aws::Dispatch,
    model::Cid,
    store::{
        artist::rows,
        engine::table::{ArtistTable, PrimaryKey, StoreError, Table, row},
    },
};

/// A file that isn't pinned yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinJob {
    /// Its CID.
    pub cid: Cid,
    /// Whether its blocks are stored.
    pub is_cut: bool,
    /// The service's id of the request under way.
    pub request: Option<String>,
    /// How often that was looked at.
    pub looks: u32,
    /// Failed attempts.
    pub failures: u32,
    /// When it goes on, in Unix seconds; 0 for a new one, so that it comes first.
    pub due: u64,
}

/// A pause after errors of the service itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinPause {
    /// Its end, in Unix seconds.
    pub until: u64,
    /// Such errors since the last success.
    pub failures: u32,
}

/// The queue of files to pin.
#[derive(Clone)]
pub struct Pins(ArtistTable);

impl Pins {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self(artists)
    }

    /// Files due at `now` (Unix seconds): new ones first, then the longest overdue. One Query.
    pub async fn due(&self, now: u64, limit: u16) -> Result<Vec<PinJob>, StoreError> {
        self.0.due(rows::pins(), now, limit.into()).await
    }

    /// Stores a job as it stands now, due at a later time; `None` if another run had it first. One transaction.
    pub async fn put_off(&self, job: &PinJob, next: PinJob, due: u64) -> Result<Option<PinJob>, StoreError> {
        // A transaction can't delete and put the same row.
        let next = PinJob { due: if due == job.due { due + 1 } else { due }, ..next };
        let writes = vec![job.removal(&self.0)?, self.0.replacement(&next.key(), &next)?];
        Ok(self.0.write_together(writes).await?.then_some(next))
    }

    /// The pause. One read.
    pub async fn pause(&self) -> Result<PinPause, StoreError> {
        Ok(self.0.get(&rows::pin_pause()).await?.unwrap_or_default())
    }

    /// Sets the pause. One write.
    pub async fn set_pause(&self, pause: PinPause) -> Result<(), StoreError> {
        let item = row(&rows::pin_pause(), &pause)?;
        self.0.client.put_item().table_name(&self.0.name).set_item(Some(item)).dispatch().await?;
        Ok(())
    }
}

impl PinJob {
    /// A new one.
    pub fn new(cid: Cid) -> Self {
        Self { cid, is_cut: false, request: None, looks: 0, failures: 0, due: 0 }
    }

    /// Fails its transaction if another run had the job first.
    pub(in crate::store) fn removal(&self, table: &Table) -> Result<TransactWriteItem, StoreError> {
        table.removal(&self.key())
    }

    pub(in crate::store) fn key(&self) -> PrimaryKey {
        rows::pin(self.due, self.cid)
    }
}
