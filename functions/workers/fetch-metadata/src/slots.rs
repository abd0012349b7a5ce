//! Places for fetches: a host or a collection has a few of all, so that one that answers slowly holds up only itself.

use std::collections::{HashMap, HashSet, VecDeque};

use shared::{
    model::Address,
    store::chain::{DueDocument, host},
};

/// Documents fetched at once, of at most 256 KiB each.
const AT_ONCE: usize = 96;

/// Of one host, or of one collection.
const OF_ONE_SOURCE: usize = 4;

/// Of all that were read before: anybody may ask for that, and nobody's new document waits for it.
const AGAIN: usize = 16;

/// Documents of one source that wait for a place in memory.
const MAX_WAITING: usize = 512;

/// Whom a fetch waits for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Source {
    Host(String),
    Collection(Address),
    Again,
}

impl Source {
    /// How many places it has.
    fn places(&self) -> usize {
        match self {
            Self::Host(_) | Self::Collection(_) => OF_ONE_SOURCE,
            Self::Again => AGAIN,
        }
    }
}

/// What becomes of a document that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is fetched.
    Fetch,
    /// It is being fetched, or waits for a place of its source.
    Known,
    /// Its source has enough that waits: it is due again at this time, in Unix seconds.
    Later(u64),
}

/// The places that are taken, and what waits for one.
#[derive(Debug, Default)]
pub struct Slots {
    running: usize,
    known: HashSet<String>,
    taken: HashMap<Source, usize>,
    waiting: HashMap<Source, VecDeque<DueDocument>>,
    /// When the next document of a source is due that has enough that waits.
    later: HashMap<Source, u64>,
}

impl Slots {
    /// Whether another document can be fetched.
    pub fn is_free(&self) -> bool {
        self.running < AT_ONCE
    }

    /// How many documents are being fetched or wait.
    pub fn known(&self) -> usize {
        self.known.len()
    }

    /// Whether any waits.
    pub fn has_waiting(&self) -> bool {
        self.known.len() > self.running
    }

    /// Takes a place for a document at `now` (Unix seconds), or has it wait for one of its source.
    pub fn admit(&mut self, due: &DueDocument, now: u64) -> Admission {
        if self.known.contains(&due.uri) {
            return Admission::Known;
        }
        let Some(full) = self.full(due) else {
            self.known.insert(due.uri.clone());
            self.take(due);
            return Admission::Fetch;
        };
        let waiting = self.waiting.entry(full.clone()).or_default();
        if waiting.len() < MAX_WAITING {
            waiting.push_back(due.clone());
            self.known.insert(due.uri.clone());
            return Admission::Known;
        }
        // A second apart: each is put off once rather than at every look at the queue.
        let later = self.later.entry(full).or_insert(now);
        *later = now.max(*later) + 1;
        Admission::Later(*later)
    }

    /// Gives a document's place back, and takes it for those that waited for it.
    pub fn release(&mut self, due: &DueDocument) -> Vec<DueDocument> {
        self.known.remove(&due.uri);
        self.running = self.running.saturating_sub(1);
        let mut next = Vec::new();
        for source in sources(due) {
            if let Some(taken) = self.taken.get_mut(&source) {
                *taken = taken.saturating_sub(1);
            }
        }
        for source in sources(due) {
            while let Some(waiting) = self.waiting.get_mut(&source).and_then(VecDeque::pop_front) {
                match self.full(&waiting) {
                    None => {
                        self.take(&waiting);
                        next.push(waiting);
                    }
                    Some(full) => {
                        let is_still_full = full == source;
                        self.waiting.entry(full).or_default().push_front(waiting);
                        if is_still_full {
                            break;
                        }
                    }
                }
            }
        }
        next
    }

    fn full(&self, due: &DueDocument) -> Option<Source> {
        sources(due).into_iter().find(|source| self.taken.get(source).is_some_and(|taken| *taken >= source.places()))
    }

    fn take(&mut self, due: &DueDocument) {
        self.running += 1;
        for source in sources(due) {
            *self.taken.entry(source).or_default() += 1;
        }
    }
}

/// The collection, the host of a web address, and whether it was read before.
fn sources(due: &DueDocument) -> Vec<Source> {
    let host = host(&due.uri).map(Source::Host);
    let again = due.since.map(|_| Source::Again);
    host.into_iter().chain([Source::Collection(due.collection)]).chain(again).collect()
}

#[cfg(test)]
mod tests {
    use shared::model::ChainId;

    use super::*;

    fn due(uri: &str, collection: u32) -> DueDocument {
        DueDocument::new(ChainId(1), uri, format!("0x{collection:040x}").parse().unwrap(), 0)
    }

    #[test]
    fn one_host_has_four_places_and_its_other_documents_wait_for_them() {
        let mut slots = Slots::default();
        let hung: Vec<_> = (0..7).map(|number| due(&format!("https://Slow.example/{number}"), number)).collect();
        let answers: Vec<_> = hung.iter().map(|due| slots.admit(due, 100)).collect();
        assert_eq!(answers[..4], [Admission::Fetch; 4]);
        assert_eq!(answers[4..], [Admission::Known; 3]);
        assert_eq!(slots.admit(&hung[5], 100), Admission::Known);
        assert_eq!(slots.admit(&due("https://fast.example/x", 9), 100), Admission::Fetch);
        assert_eq!((slots.known(), slots.has_waiting()), (8, true));
        assert_eq!(slots.release(&hung[0]), [hung[4].clone()]);
        assert_eq!(slots.release(&hung[4]), [hung[5].clone()]);
        assert_eq!(slots.release(&hung[1]), [hung[6].clone()]);
        assert!(!slots.has_waiting());
        assert!(slots.release(&hung[2]).is_empty());
        assert_eq!(slots.admit(&hung[0], 100), Admission::Fetch, "it may come again");
    }

    #[test]
    fn a_document_waits_for_its_host_and_its_collection() {
        let mut slots = Slots::default();
        let same: Vec<_> = (0..4).map(|number| due(&format!("ipfs://lost/{number}"), 1)).collect();
        let host: Vec<_> = (0..4).map(|number| due(&format!("https://slow.example/{number}"), 2 + number)).collect();
        for due in same.iter().chain(&host) {
            assert_eq!(slots.admit(due, 100), Admission::Fetch);
        }
        let both = due("https://slow.example/both", 1);
        assert_eq!(slots.admit(&both, 100), Admission::Known);
        assert!(slots.release(&host[0]).is_empty(), "its collection has no place");
        assert_eq!(slots.release(&same[0]), [both]);
    }

    #[test]
    fn documents_that_are_read_again_leave_most_places_to_new_ones() {
        let mut slots = Slots::default();
        let again = |number| {
            let mut due = due(&format!("ipfs://read/{number}"), number);
            due.since = Some(1);
            due
        };
        let answers: Vec<_> = (0..96).map(|number| slots.admit(&again(number), 100)).collect();
        assert_eq!(answers.iter().filter(|answer| **answer == Admission::Fetch).count(), AGAIN);
        assert_eq!(slots.admit(&due("ipfs://new", 1_000), 100), Admission::Fetch);
        assert_eq!(slots.release(&again(0)), [again(16)]);
    }

    #[test]
    fn what_finds_no_room_to_wait_is_due_a_second_apart() {
        let mut slots = Slots::default();
        let line: Vec<_> = (0..MAX_WAITING + 7).map(|number| due(&format!("ipfs://lost/{number}"), 1)).collect();
        let answers: Vec<_> = line.iter().map(|due| slots.admit(due, 100)).collect();
        let later = [Admission::Later(101), Admission::Later(102), Admission::Later(103)];
        assert_eq!(answers[MAX_WAITING + 4..], later);
        assert_eq!(slots.admit(&line[MAX_WAITING + 6], 200), Admission::Later(201), "not from the past");
    }
}
