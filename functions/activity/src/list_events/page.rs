//! A page of several logs: each log's events in their order, and the logs among each other by time.

use std::collections::VecDeque;

use shared::{
    model::{Event, EventCursor, LogName, LogPlace},
    store::engine::NumberedEvent,
};

/// What was read of a log.
pub struct Read {
    pub log: LogName,
    /// Where the reading began.
    pub place: LogPlace,
    pub events: Vec<NumberedEvent>,
}

/// A page.
pub struct Page {
    pub events: Vec<(LogName, NumberedEvent)>,
    /// Where the next one begins.
    pub next: EventCursor,
    /// Whether the next one begins elsewhere.
    pub has_moved: bool,
}

/// The first `limit` events that are meant.
pub fn page(logs: Vec<Read>, limit: usize, is_meant: impl Fn(&Event) -> bool) -> Page {
    let mut next = EventCursor::default();
    let mut queues = Vec::new();
    for Read { log, place, events } in logs {
        let reached = events.last().map_or(place.number, |last| last.number);
        let meant: VecDeque<_> = events.into_iter().filter(|numbered| is_meant(&numbered.event)).collect();
        queues.push((log, place, reached, meant));
    }
    let (mut events, mut has_moved) = (Vec::new(), false);
    while events.len() < limit {
        let heads = queues.iter_mut().filter(|(.., queue)| !queue.is_empty());
        let earliest = heads.min_by_key(|(.., queue)| queue.front().map(|numbered| numbered.event.time));
        let Some((log, .., queue)) = earliest else { break };
        events.extend(queue.pop_front().map(|numbered| (*log, numbered)));
    }
    for (log, place, reached, queue) in queues {
        let number = queue.front().map_or(reached, |rest| rest.number - 1);
        has_moved |= number != place.number;
        next.set(log, LogPlace { number, ..place });
    }
    Page { events, next, has_moved }
}

#[cfg(test)]
mod tests {
    use shared::model::{ArtistEvent, ChainId, EventData, LogId};

    use super::*;

    const LOGS: [LogName; 2] = [LogName::Chain(ChainId(8453)), LogName::Service];

    fn event(number: u64, time: u64) -> NumberedEvent {
        let data = EventData::ArtistUpdated(ArtistEvent { address: shared::model::Address::ZERO });
        let id = "6c1f2f6e-6f0e-5b7e-9d8a-3f1c2b4d5e6f".parse().unwrap();
        NumberedEvent { number, event: Event { id, time, is_reverted: false, data } }
    }

    /// Two logs from these places on: one has an event every second, the other one every third.
    fn read(cursor: &EventCursor) -> Vec<Read> {
        let of = |log: LogName, every: u64| {
            let place = cursor.place(log).unwrap_or(LogPlace { log: LogId(1), number: 0 });
            let events = (place.number + 1..=60 / every).take(7).map(|number| event(number, number * every)).collect();
            Read { log, place, events }
        };
        vec![of(LOGS[0], 1), of(LOGS[1], 3)]
    }

    #[test]
    fn pages_have_every_event_that_is_meant_once_and_in_order() {
        for limit in [1, 2, 5, 100] {
            for every in [1, 4, 7, 1000] {
                let is_meant = |event: &Event| event.time.is_multiple_of(every);
                let (mut cursor, mut found) = (EventCursor::default(), Vec::new());
                for turn in 0.. {
                    let page = page(read(&cursor), limit, is_meant);
                    assert!(page.events.len() <= limit);
                    if !page.has_moved {
                        break;
                    }
                    assert!(turn < 200, "no end");
                    found.extend(page.events);
                    cursor = page.next;
                }
                for (log, step) in [(LOGS[0], 1), (LOGS[1], 3)] {
                    let of_log = found.iter().filter(|(of, _)| *of == log).map(|(_, numbered)| numbered.number);
                    let meant = (1..=60_u64 / step).filter(|number| (number * step).is_multiple_of(every));
                    assert_eq!(of_log.collect::<Vec<_>>(), meant.collect::<Vec<_>>(), "{limit} {every}");
                }
            }
        }
    }

    #[test]
    fn logs_are_merged_by_time() {
        let page = page(read(&EventCursor::default()), 6, |_| true);
        let times: Vec<_> = page.events.iter().map(|(_, numbered)| numbered.event.time).collect();
        assert_eq!(times, [1, 2, 3, 3, 4, 5]);
    }
}
