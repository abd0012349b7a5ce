//! The log of events that are no chain's. Each run is appended together with its cause; its number comes from the head.

use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
use serde::{Deserialize, Serialize};

use crate::{
    model::Event,
    store::{
        artist::rows,
        engine::{
            event_segments::{LogHead, NumberedEvent, Run, json},
            table::{ArtistTable, StoreError, backoff, number, row},
        },
    },
};

/// How long they are kept, in seconds.
const LIFETIME: u64 = 30 * 24 * 60 * 60;

/// Other writers may be faster so often.
const ATTEMPTS: u32 = 20;

/// The service's own log.
#[derive(Clone)]
pub struct ServiceEvents(ArtistTable);

#[derive(Serialize, Deserialize)]
struct HeadRow {
    #[serde(flatten)]
    head: LogHead,
}

impl ServiceEvents {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self(artists)
    }

    /// The log's end; `None` before the first event. One read.
    pub async fn head(&self) -> Result<Option<LogHead>, StoreError> {
        Ok(self.0.get::<HeadRow>(&rows::service_events_head()).await?.map(|row| row.head))
    }

    /// Events after the one with this number. One Query.
    pub async fn after(&self, number: u64, rows: i32) -> Result<Vec<NumberedEvent>, StoreError> {
        // Rows are deleted in time, so that a gap may stay; and each is committed before the next one.
        self.0.0.clone().consistent().events_after(&rows::service_events(), number, rows, false).await
    }

    /// Makes these writes and appends events, all or nothing; `false` if one of their conditions failed.
    pub(in crate::store) async fn write_with_events(
        &self,
        writes: Vec<TransactWriteItem>,
        events: &[Event],
        now: u64,
    ) -> Result<bool, StoreError> {
        if events.is_empty() {
            return self.0.write_together(writes).await;
        }
        for attempt in 0..ATTEMPTS {
            let all = writes.iter().cloned().chain(self.appending(events, now).await?).collect();
            match self.0.write_or_reasons(all).await {
                Ok(Ok(())) => return Ok(true),
                Ok(Err(reasons)) if reasons.iter().take(writes.len()).any(|it| it.is_condition()) => return Ok(false),
                Err(error) if !error.is_throttled() => return Err(error),
                _ => tokio::time::sleep(backoff(attempt)).await,
            }
        }
        Err(StoreError::Contention("the log of events"))
    }

    /// Writes that append events now, for a transaction with their cause. They hold while the head is as it was read: after
    /// a failed condition, ask again. One read.
    pub(in crate::store) async fn appending(
        &self,
        events: &[Event],
        now: u64,
    ) -> Result<Vec<TransactWriteItem>, StoreError> {
        let known = self.head().await?;
        let head = known.unwrap_or_else(LogHead::new);
        let texts = events.iter().map(json).collect::<Result<Vec<_>, _>>()?;
        let mut writes = Vec::new();
        let mut end = head;
        for (last, run) in Run::pack(head, &texts)? {
            let run = Run { expires_at: Some(now.saturating_add(LIFETIME)), ..run };
            writes.push(self.0.insertion(&rows::service_event(last), &run)?);
            end.last = last;
        }
        let put = Put::builder().table_name(&self.0.name);
        let put = put.set_item(Some(row(&rows::service_events_head(), &HeadRow { head: end })?));
        let put = match known {
            None => put.condition_expression("attribute_not_exists(pk)"),
            Some(head) => put
                .condition_expression("#last = :last")
                .expression_attribute_names("#last", "last")
                .expression_attribute_values(":last", number(head.last)),
        };
        writes.push(TransactWriteItem::builder().put(put.build()?).build());
        Ok(writes)
    }
}
