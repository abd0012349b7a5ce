//! Rows of a log of events. A row is a run of events, packed; its sort key is the number of the last one, so that the rows
//! after any event are one range of keys.

use std::io::{Read, Write};

use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use serde::{
    Deserialize, Serialize,
    de::{DeserializeOwned, Error as _},
};

use super::table::{StoreError, Table, text};
use crate::{
    aws::Dispatch,
    model::{Event, LogId},
};

/// Most events and bytes of a run, so that a page of a hundred events reads two rows or so.
const MOST_EVENTS: usize = 100;
const MOST_BYTES: usize = 64 << 10;

/// Longer runs are packed for speed.
const SHORT: usize = 8 << 10;

/// The number before the first event's.
pub(in crate::store) const BEGINNING: u64 = 0;

/// A log's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogHead {
    /// The log.
    pub log: LogId,
    /// Number of its newest event; 0 if there is none.
    pub last: u64,
}

/// An event and its number in its log.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberedEvent {
    /// The number, from 1.
    pub number: u64,
    /// The event.
    pub event: Event,
}

/// A row's fields.
#[derive(Serialize, Deserialize)]
pub(in crate::store) struct Run {
    /// Number of its first event.
    pub(in crate::store) first: u64,
    #[serde(with = "serde_bytes")]
    pub(in crate::store) events: Vec<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::store) expires_at: Option<u64>,
}

impl LogHead {
    /// The head of a new log.
    pub(in crate::store) fn new() -> Self {
        Self { log: LogId(getrandom::u64().unwrap_or_default()), last: BEGINNING }
    }
}

impl Run {
    /// Packs events, given as JSON, that follow `head`. Returns the runs with the numbers of their last events.
    pub(in crate::store) fn pack(head: LogHead, events: &[String]) -> Result<Vec<(u64, Self)>, StoreError> {
        let (mut runs, mut rest, mut last) = (Vec::new(), events, head.last);
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |event: &&String| {
                bytes += event.len() + 1;
                bytes <= MOST_BYTES
            };
            let count = rest.iter().take(MOST_EVENTS).take_while(fits).count().max(1);
            let (run, others) = rest.split_at(count);
            let first = last + 1;
            (rest, last) = (others, last + count as u64);
            runs.push((last, Self { first, events: deflated(&format!("[{}]", run.join(",")))?, expires_at: None }));
        }
        Ok(runs)
    }

    fn unpack(&self) -> Result<Vec<Event>, StoreError> {
        inflated(&self.events)
    }
}

pub(in crate::store) fn deflated(json: &str) -> Result<Vec<u8>, StoreError> {
    let level = if json.len() > SHORT { Compression::fast() } else { Compression::default() };
    let mut encoder = DeflateEncoder::new(Vec::new(), level);
    encoder.write_all(json.as_bytes()).map_err(malformed)?;
    encoder.finish().map_err(malformed)
}

pub(in crate::store) fn inflated<T: DeserializeOwned>(deflated: &[u8]) -> Result<T, StoreError> {
    let mut json = Vec::new();
    DeflateDecoder::new(deflated).read_to_end(&mut json).map_err(malformed)?;
    serde_json::from_slice(&json).map_err(malformed)
}

pub(in crate::store) fn malformed(error: impl std::fmt::Display) -> StoreError {
    StoreError::Row(serde_dynamo::Error::custom(error))
}

/// An event as it is packed.
pub(in crate::store) fn json(event: &Event) -> Result<String, StoreError> {
    serde_json::to_string(event).map_err(malformed)
}

pub(in crate::store) fn sort_key(last: u64) -> String {
    format!("{last:020}")
}

impl Table {
    /// Events of at most `rows` rows after the one with number `after`. A Query may see a row before an earlier one: it ends
    /// there, if `is_dense`. One Query.
    pub(in crate::store) async fn events_after(
        &self,
        partition: &str,
        after: u64,
        rows: i32,
        is_dense: bool,
    ) -> Result<Vec<NumberedEvent>, StoreError> {
        let call = self.query().key_condition_expression("pk = :pk AND sk BETWEEN :first AND :last");
        let call = call.expression_attribute_values(":pk", text(partition)).limit(rows);
        let call = call.expression_attribute_values(":first", text(sort_key(after.saturating_add(1))));
        let call = call.expression_attribute_values(":last", text(sort_key(u64::MAX)));
        let runs: Vec<Run> = serde_dynamo::from_items(call.dispatch().await?.items.unwrap_or_default())?;
        let mut found: Vec<NumberedEvent> = Vec::new();
        for run in runs {
            let expected = found.last().map_or(after, |event| event.number).saturating_add(1);
            if is_dense && run.first > expected {
                break;
            }
            let numbered = (run.first..).zip(run.unpack()?);
            let events = numbered.filter(|(number, _)| *number >= expected);
            found.extend(events.map(|(number, event)| NumberedEvent { number, event }));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ArtistEvent, EventData};

    #[test]
    fn events_are_packed_into_runs_and_read_again() {
        let address = "0x540c18b7f99b3b599c6feb99964498931c211858".parse().unwrap();
        let event = |number: u64| Event {
            id: "6c1f2f6e-6f0e-5b7e-9d8a-3f1c2b4d5e6f".parse().unwrap(),
            time: number,
            is_reverted: false,
            data: EventData::ArtistUpdated(ArtistEvent { address }),
        };
        for count in [0, 1, 100, 101, 250] {
            let events: Vec<Event> = (0..count).map(event).collect();
            let texts: Vec<String> = events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
            let runs = Run::pack(LogHead { last: 7, ..LogHead::new() }, &texts).unwrap();
            assert_eq!(runs.len(), events.len().div_ceil(MOST_EVENTS));
            let mut expected = 8;
            for (last, run) in &runs {
                assert_eq!(run.first, expected);
                expected = last + 1;
            }
            assert_eq!(expected, 8 + count);
            let read: Vec<Event> = runs.iter().flat_map(|(_, run)| run.unpack().unwrap()).collect();
            assert_eq!(read, events);
        }
        let long = vec!["9".repeat(MOST_BYTES); 3];
        assert_eq!(Run::pack(LogHead::new(), &long).unwrap().len(), 3);
    }
}
