//! What is viewed of a list: everything below a number, single numbers above it, and what a reorganisation can still move.

use std::{collections::BTreeSet, ops::Range};

use alloy::primitives::Bytes;
use serde::{Deserialize, Serialize};

use crate::model::EventId;

pub(super) const CHUNK: u64 = 4_096;

/// Most ids of viewed notifications that aren't settled; the oldest are dropped.
const MAX_RECENT: usize = 1_000;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    /// All smaller numbers are viewed.
    pub(super) all_below: u64,
    /// Chunk and number of bits set in it.
    marked: Vec<(u64, u64)>,
    /// Viewed ones whose numbers weren't settled when they were marked, the oldest first.
    #[serde(default)]
    pub(super) recent: Vec<EventId>,
    pub(super) version: u64,
}

/// The state with the numbers that its recent ids have now.
pub(super) struct Viewed {
    pub(super) state: State,
    pub(super) recent: BTreeSet<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ReadBitmap {
    bits: Bytes,
}

impl State {
    /// Everything below `all_below` is viewed, and these.
    pub(super) fn all(all_below: u64, recent: Vec<EventId>, version: u64) -> Self {
        let mut state = Self { all_below, version, ..Self::default() };
        for id in recent {
            state.add_recent(id);
        }
        state
    }

    /// Returns `false` if it was there.
    pub(super) fn add_recent(&mut self, id: EventId) -> bool {
        if self.recent.contains(&id) {
            return false;
        }
        if self.recent.len() == MAX_RECENT {
            self.recent.remove(0);
        }
        self.recent.push(id);
        true
    }

    pub(super) fn marked_in(&self, chunk: u64) -> u64 {
        self.marked.iter().find(|(marked, _)| *marked == chunk).map_or(0, |(_, count)| *count)
    }

    pub(super) fn count(&mut self, chunk: u64) {
        match self.marked.binary_search_by_key(&chunk, |(marked, _)| *marked) {
            Ok(place) => self.marked[place].1 += 1,
            Err(place) => self.marked.insert(place, (chunk, 1)),
        }
    }

    pub(super) fn may_be_marked(&self, number: u64) -> bool {
        number >= self.all_below && self.marked_in(number / CHUNK) > 0
    }
}

impl Viewed {
    pub(super) fn new(state: State, recent: impl IntoIterator<Item = u64>) -> Self {
        let recent = recent.into_iter().filter(|number| *number >= state.all_below).collect();
        Self { state, recent }
    }

    fn counts(&self, chunk: u64, length: u64) -> (u64, u64) {
        let all = numbers(chunk, length);
        let below = self.state.all_below.clamp(all.start, all.end) - all.start;
        let recent = self.recent.range(all.clone()).count() as u64;
        let viewed = (below + self.state.marked_in(chunk) + recent).min(all.end - all.start);
        (viewed, all.end - all.start - viewed)
    }

    pub(super) fn unviewed(&self, length: u64) -> u64 {
        // Earlier chunks are all viewed.
        let chunks = self.state.all_below.min(length) / CHUNK..length.div_ceil(CHUNK);
        chunks.map(|chunk| self.counts(chunk, length).1).sum()
    }

    /// Chunks that hold the page, last first, and how many matches to skip in the first.
    pub(super) fn chunks(&self, length: u64, viewed: bool, offset: u64, limit: usize) -> (Vec<u64>, u64) {
        let (mut skipped, mut found, mut chunks) = (offset, 0, Vec::new());
        for chunk in (0..length.div_ceil(CHUNK)).rev() {
            let (yes, no) = self.counts(chunk, length);
            let count = if viewed { yes } else { no };
            if chunks.is_empty() && count <= skipped {
                skipped -= count;
            } else if count > 0 {
                chunks.push(chunk);
                found += count;
                if found - skipped >= limit as u64 {
                    break;
                }
            }
        }
        (chunks, skipped)
    }
}

impl ReadBitmap {
    pub(super) fn none() -> Self {
        Self { bits: vec![0; (CHUNK / 8) as usize].into() }
    }

    pub(super) fn has(&self, number: u64) -> bool {
        let (byte, bit) = place(number);
        self.bits.get(byte).is_some_and(|byte| byte & bit != 0)
    }

    pub(super) fn set(&mut self, number: u64) -> bool {
        let (byte, bit) = place(number);
        let mut bits = self.bits.to_vec();
        let is_new = bits.get_mut(byte).is_some_and(|byte| {
            let is_new = *byte & bit == 0;
            *byte |= bit;
            is_new
        });
        self.bits = bits.into();
        is_new
    }
}

fn place(number: u64) -> (usize, u8) {
    let within = number % CHUNK;
    (usize::try_from(within / 8).unwrap_or_default(), 1 << (within % 8))
}

pub(super) fn numbers(chunk: u64, length: u64) -> Range<u64> {
    let start = (chunk * CHUNK).min(length);
    start..(start + CHUNK).min(length)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn viewed(all_below: u64, marked: &[u64], recent: &[u64]) -> (Viewed, HashMap<u64, ReadBitmap>) {
        let (mut state, mut marks) = (State { all_below, ..State::default() }, HashMap::new());
        for &number in marked {
            assert!(marks.entry(number / CHUNK).or_insert_with(ReadBitmap::none).set(number), "{number} twice");
            state.count(number / CHUNK);
        }
        (Viewed::new(state, recent.iter().copied()), marks)
    }

    #[test]
    fn counts_and_pages_match_a_plain_list() {
        let marked: Vec<u64> = (9_000..20_000).step_by(7).chain([4_500, 4_501, 8_191, 8_192]).collect();
        let recent = [8_190, 19_999];
        let (state, marks) = viewed(4_200, &marked, &recent);
        let is_marked = |number: u64| marks.get(&(number / CHUNK)).is_some_and(|it| it.has(number));
        let is_viewed = |number: u64| number < 4_200 || is_marked(number) || recent.contains(&number);
        for length in [0, 1, 4_096, 4_200, 4_201, 20_000, 50_000] {
            let all: Vec<u64> = (0..length).rev().collect();
            if length >= 20_000 {
                let unviewed = all.iter().filter(|number| !is_viewed(**number)).count();
                assert_eq!(state.unviewed(length), unviewed as u64, "{length}");
            }
            for viewed in [true, false] {
                let plain: Vec<u64> = all.iter().copied().filter(|number| is_viewed(*number) == viewed).collect();
                for offset in [0, 1, 19, 4_000, 9_000, 25_000] {
                    if length > 0 && length < 20_000 {
                        continue;
                    }
                    let (chunks, skipped) = state.chunks(length, viewed, offset, 21);
                    let numbers = chunks.iter().flat_map(|chunk| numbers(*chunk, length).rev());
                    let page = numbers.filter(|number| is_viewed(*number) == viewed);
                    let page: Vec<u64> = page.skip(skipped as usize).take(21).collect();
                    let expected: Vec<u64> = plain.iter().copied().skip(offset as usize).take(21).collect();
                    assert_eq!(page, expected, "{length} {viewed} {offset}");
                    assert!(chunks.len() <= 22, "{} chunks", chunks.len());
                }
            }
        }
    }

    #[test]
    fn shortened_list_below_the_mark_is_all_viewed() {
        let (state, _) = viewed(10_000, &[], &[]);
        assert_eq!((state.unviewed(9_000), state.unviewed(10_000), state.unviewed(10_003)), (0, 0, 3));
        assert_eq!(state.chunks(9_000, false, 0, 21), (vec![], 0));
    }
}
