//! Events of a range on their way into rows.

use shared::store::engine::{BlockId, EventPlace};

use super::collects::Collects;
use crate::event::ChainEvent;

/// Events of a range, and how many of them are applied.
#[derive(Default)]
pub struct Queue {
    pub(super) events: Vec<ChainEvent>,
    pub(super) collects: Collects,
    /// Number of events that are applied.
    pub(super) done: usize,
    /// Number of the next event's tokens that are applied.
    pub(super) tokens: u64,
}

impl Queue {
    /// A range's events, without those before a place in its first block.
    pub fn of(events: Vec<ChainEvent>, first: u64, from: Option<EventPlace>) -> Self {
        let start = from.map(|place| (first, EventPlace { tokens: 0, ..place }));
        let done = start.map_or(0, |start| events.partition_point(|event| event.order() < start));
        let is_begun = events.get(done).is_some_and(|event| Some(event.order()) == start);
        let tokens = from.filter(|_| is_begun).map_or(0, |place| place.tokens);
        Self { collects: Collects::among(&events), events, done, tokens }
    }

    pub fn is_empty(&self) -> bool {
        self.done == self.events.len()
    }

    pub fn done(&self) -> usize {
        self.done
    }

    /// The last block that is applied, at least in part, and where the rest of it begins. `None` once all is applied.
    pub fn reached(&self) -> Option<(BlockId, Option<EventPlace>)> {
        let next = self.events.get(self.done)?;
        let (block, place) = next.order();
        let before = self.done.checked_sub(1).and_then(|last| self.events.get(last));
        match before.filter(|before| self.tokens == 0 && before.at.block < block) {
            Some(before) => Some((before.block(), None)),
            None => Some((next.block(), Some(EventPlace { tokens: self.tokens, ..place }))),
        }
    }
}
