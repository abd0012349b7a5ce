//! The log of a chain's events. Its rows are written together with the progress, so that they tell only what is wholly
//! stored, once.

use std::sync::Arc;

use super::bulk::Write;
use crate::{
    model::{ChainId, Event},
    store::engine::{
        event_segments::{LogHead, NumberedEvent, Run},
        rows,
        table::{StoreError, Table, row},
    },
};

const PAGE: i32 = 40;

/// The rows that append events, given as JSON, after `head`.
pub(super) fn appended(work: &str, head: LogHead, events: &[String]) -> Result<Vec<Write>, StoreError> {
    let runs = Run::pack(head, events)?.into_iter();
    runs.map(|(last, run)| {
        let key = rows::chain_event(work, last);
        let item = row(&key, &run)?;
        Ok((key, Some(Arc::new(item))))
    })
    .collect()
}

/// What the log's end from event `first` on has told and not taken back, the oldest first. One Query per 40 rows.
pub(super) async fn live_events(table: &Table, work: &str, first: u64, last: u64) -> Result<Vec<Event>, StoreError> {
    let (mut live_events, mut after) = (Vec::new(), first.saturating_sub(1));
    while after < last {
        let events = table.events_after(&rows::chain_events(work), after, PAGE, true).await?;
        after = events.last().ok_or(StoreError::Missing("a row of events"))?.number;
        for NumberedEvent { event, .. } in events {
            // They are taken back the newest first.
            if event.is_reverted {
                live_events.pop();
            } else {
                live_events.push(event);
            }
        }
    }
    Ok(live_events)
}

impl Table {
    /// Events of a chain after the one with this number. One Query.
    pub(in crate::store) async fn chain_events(
        &self,
        chain: ChainId,
        after: u64,
        rows: i32,
    ) -> Result<Vec<NumberedEvent>, StoreError> {
        self.events_after(&rows::chain_events(&chain.to_string()), after, rows, true).await
    }
}
