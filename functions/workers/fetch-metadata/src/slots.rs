//! Places for fetches: a host or a collection has a few of all, so that one that answers slowly holds up only itself.

use std::collections::{HashMap, HashSet};

use shared::{model::Address, store::chain::DueDocument};

/// Documents fetched at once, of at most 256 KiB each.
const AT_ONCE: usize = 96;

/// Of one host, or of one collection.
const OF_ONE_SOURCE: usize = 4;

/// Whom a fetch waits for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Source {
    Host(String),
    Collection(Address),
}

/// What becomes of a document that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is fetched.
    Fetch,
    /// It is being fetched.
    Running,
    /// Its source has enough under way: it is due again at this time, in Unix seconds.
    Later(u64),
}

/// The places that are taken.
#[derive(Debug, Default)]
pub struct Slots {
    running: HashSet<String>,
    taken: HashMap<Source, usize>,
    /// When the next document of a source that has enough under way is due.
    later: HashMap<Source, u64>,
}

impl Slots {
    /// How many more can be fetched.
    pub fn free(&self) -> usize {
        AT_ONCE.saturating_sub(self.running.len())
    }

    /// How many are being fetched.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// Takes a place for a document at `now` (Unix seconds). Those that find none are due a second apart, so that each is
    /// put off once rather than at every look at the queue.
    pub fn admit(&mut self, due: &DueDocument, now: u64) -> Admission {
        if self.running.contains(&due.uri) {
            return Admission::Running;
        }
        let sources = sources(due);
        let is_full = |source: &&Source| self.taken.get(*source).is_some_and(|taken| *taken >= OF_ONE_SOURCE);
        if let Some(full) = sources.iter().find(is_full) {
            let later = self.later.entry(full.clone()).or_insert(now);
            *later = now.max(*later) + 1;
            return Admission::Later(*later);
        }
        for source in sources {
            *self.taken.entry(source).or_default() += 1;
        }
        self.running.insert(due.uri.clone());
        Admission::Fetch
    }

    /// Gives a document's place back.
    pub fn release(&mut self, due: &DueDocument) {
        self.running.remove(&due.uri);
        for source in sources(due) {
            if let Some(taken) = self.taken.get_mut(&source) {
                *taken = taken.saturating_sub(1);
            }
        }
    }
}

/// The collection, and the host of a web address: what has a content identifier comes from the gateways.
fn sources(due: &DueDocument) -> Vec<Source> {
    let host = due.uri.strip_prefix("https://").and_then(|rest| rest.split(['/', '?', '#']).next());
    let host = host.map(|host| Source::Host(host.to_ascii_lowercase()));
    host.into_iter().chain([Source::Collection(due.collection)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(uri: &str, collection: u8) -> DueDocument {
        DueDocument::new(shared::model::ChainId(1), uri, alloy_address(collection), 0)
    }

    fn alloy_address(number: u8) -> Address {
        format!("0x{number:040x}").parse().unwrap()
    }

    #[test]
    fn one_host_has_four_places_and_the_rest_of_it_waits_in_line() {
        let mut slots = Slots::default();
        let hung: Vec<_> = (0..7).map(|number| due(&format!("https://Slow.example/{number}"), number)).collect();
        let answers: Vec<_> = hung.iter().map(|due| slots.admit(due, 100)).collect();
        assert_eq!(answers[..4], [Admission::Fetch; 4]);
        assert_eq!(answers[4..], [Admission::Later(101), Admission::Later(102), Admission::Later(103)]);
        assert_eq!(slots.admit(&hung[0], 100), Admission::Running);
        assert_eq!(slots.admit(&due("https://slow.example:443/x", 9), 100), Admission::Fetch, "another origin");
        assert_eq!(slots.admit(&due("https://fast.example/x", 9), 100), Admission::Fetch);
        slots.release(&hung[0]);
        assert_eq!(slots.admit(&hung[4], 110), Admission::Fetch);
        assert_eq!(slots.admit(&hung[5], 110), Admission::Later(111), "not from the past");
    }

    #[test]
    fn one_collection_has_four_places_whatever_it_names() {
        let mut slots = Slots::default();
        for number in 0..4 {
            assert_eq!(slots.admit(&due(&format!("ipfs://lost/{number}"), 1), 100), Admission::Fetch);
        }
        assert_eq!(slots.admit(&due("https://many.example/", 1), 100), Admission::Later(101));
        assert_eq!(slots.admit(&due("ipfs://lost/5", 2), 100), Admission::Fetch);
        assert_eq!((slots.running(), slots.free()), (5, AT_ONCE - 5));
    }
}
