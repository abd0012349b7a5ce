use std::time::Instant;

use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
use serde::{Deserialize, Serialize};

use crate::aws::Dispatch;
use crate::store::{
    artist::rows,
    engine::{
        lease::{self, LEASE_TIMEOUT, Lease, LeasedWork},
        table::{ArtistTable, StoreError, number, row},
    },
};

/// How far one process, the leader, has passed the logs on to webhooks.
#[derive(Clone)]
pub struct FanOutProgress(ArtistTable);

/// How far a log is passed on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPosition {
    /// The log's id: another one begins anew.
    pub log: String,
    /// Number of the last event that was passed on; 0 for none.
    pub after: u64,
    /// Tick of the last delivery's id.
    pub tick: u64,
}

impl FanOutProgress {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self(artists)
    }

    /// Does the work once while the lease is held; returns whether to do it again.
    pub async fn hold_lease<W: LeasedWork<Lease = Lease>>(
        &self,
        holder: &str,
        until: Instant,
        work: &mut W,
    ) -> Result<bool, W::Error> {
        let key = rows::fan_out_lease();
        lease::hold(&self.0, &key, (holder, LEASE_TIMEOUT), until, |lease| lease, work).await
    }

    /// Acquires the lease; `None` if another process holds it.
    pub async fn acquire_lease(&self, holder: &str) -> Result<Option<Lease>, StoreError> {
        self.0.acquire(&rows::fan_out_lease(), holder, LEASE_TIMEOUT).await
    }

    /// Releases the lease. One write.
    pub async fn release_lease(&self, lease: &Lease) -> Result<(), StoreError> {
        self.0.release(lease).await
    }

    /// Has the worker woken by the table's stream. One write.
    pub async fn wake(&self, now: u64) -> Result<(), StoreError> {
        let call = self.0.client.update_item().table_name(&self.0.name);
        let call = call.set_key(Some(rows::fan_out_wake().item())).update_expression("SET woken_at = :now");
        call.expression_attribute_values(":now", number(now)).dispatch().await?;
        Ok(())
    }

    /// Returns how far a log is passed on. One read.
    pub async fn position(&self, log: &str) -> Result<LogPosition, StoreError> {
        Ok(self.0.get(&rows::fan_out_position(log)).await?.unwrap_or_default())
    }

    /// Stores how far a log is passed on; `false` if another process holds the lease. One write.
    pub async fn advance(&self, lease: &Lease, log: &str, position: &LogPosition) -> Result<bool, StoreError> {
        let put = Put::builder()
            .table_name(&self.0.name)
            .set_item(Some(row(&rows::fan_out_position(log), position)?))
            .build()?;
        let put = TransactWriteItem::builder().put(put).build();
        self.0.write_together(vec![self.0.condition(lease)?, put]).await
    }
}
