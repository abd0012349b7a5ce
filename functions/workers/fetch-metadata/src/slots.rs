//! Places for fetches: a host or a collection has a few of all, so that one that answers slowly holds up only itself.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    net::{IpAddr, Ipv6Addr},
};

use shared::{
    model::Address,
    store::chain::{DueDocument, host},
};

/// Documents fetched at once, of at most 256 KiB each.
const AT_ONCE: usize = 96;

/// Of one host, or of one collection.
const OF_ONE_SOURCE: usize = 4;

/// Of the hosts of one domain, once half of all are taken: names below a domain cost nothing.
const OF_ONE_DOMAIN: usize = 8;

/// Of all that were read before: anybody may ask for that, and nobody's new document waits for it.
const AGAIN: usize = 16;

/// Documents of one source that wait for a place in memory.
const MAX_WAITING: usize = 512;

/// Whom a fetch waits for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Source {
    Host(String),
    Domain(String),
    Collection(Address),
    Again,
}

impl Source {
    /// How many places it has.
    fn places(&self) -> usize {
        match self {
            Self::Host(_) | Self::Collection(_) => OF_ONE_SOURCE,
            Self::Domain(_) => OF_ONE_DOMAIN,
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
        sources(due).into_iter().find(|source| {
            let is_limited = !matches!(source, Source::Domain(_)) || self.running >= AT_ONCE / 2;
            is_limited && self.taken.get(source).is_some_and(|taken| *taken >= source.places())
        })
    }

    fn take(&mut self, due: &DueDocument) {
        self.running += 1;
        for source in sources(due) {
            *self.taken.entry(source).or_default() += 1;
        }
    }
}

/// The collection, the host and the domain of a web address, and whether it was read before.
fn sources(due: &DueDocument) -> Vec<Source> {
    let web = host(&due.uri).map(|host| [Source::Domain(domain(&host)), Source::Host(host)]);
    let again = due.since.map(|_| Source::Again);
    web.into_iter().flatten().chain([Source::Collection(due.collection)]).chain(again).collect()
}

/// The last two labels of a name, or the network of an address: the /24, of IPv6 the /32. Owners of names under one suffix,
/// such as `co.uk` or a provider's, share a domain's places, which are few only while half of all are taken. Networks of
/// names don't count: a provider's has the names of thousands.
fn domain(host: &str) -> String {
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => {
            let [first, second, third, _] = address.octets();
            format!("{first}.{second}.{third}.0/24")
        }
        Ok(IpAddr::V6(address)) => format!("{}/32", Ipv6Addr::from_bits(address.to_bits() >> 96 << 96)),
        Err(_) => {
            let mut labels = host.rsplit('.');
            match (labels.next(), labels.next()) {
                (Some(top), Some(name)) => format!("{name}.{top}"),
                _ => host.to_owned(),
            }
        }
    }
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
    fn hosts_of_one_domain_leave_half_of_the_places_to_others() {
        let mut slots = Slots::default();
        // Each in a collection of its own.
        let wildcard: Vec<_> =
            (0..96).map(|number| due(&format!("https://h{}.slow.example/{number}", number / 4), number)).collect();
        let answers: Vec<_> = wildcard.iter().map(|due| slots.admit(due, 100)).collect();
        assert_eq!(answers[..48], [Admission::Fetch; 48]);
        assert_eq!(answers[48..], [Admission::Known; 48]);
        for number in 100..148 {
            let honest = due(&format!("https://www.honest{number}.example/{number}"), number);
            assert_eq!(slots.admit(&honest, 100), Admission::Fetch);
        }
        assert!(!slots.is_free());
        // It takes up none again until it has seven.
        for due in &wildcard[..40] {
            assert!(slots.release(due).is_empty());
        }
        assert_eq!(slots.release(&wildcard[40]), [wildcard[48].clone()]);
    }

    #[test]
    fn one_domain_has_eight_places_once_half_of_all_are_taken() {
        let mut slots = Slots::default();
        let of = |name: &str, number: u32| due(&format!("https://{name}/{number}"), number);
        let slow: Vec<_> = (0..8).map(|number| of(&format!("slow{}.co.uk", number / 4), number)).collect();
        assert!(slow.iter().all(|due| slots.admit(due, 100) == Admission::Fetch));
        let neighbour = |number| of(&format!("neighbour{number}.co.uk"), number);
        assert_eq!(slots.admit(&neighbour(8), 100), Admission::Fetch, "the half is free");
        for number in 9..60 {
            assert_eq!(slots.admit(&of(&format!("name{number}.example"), number), 100), Admission::Fetch);
        }
        assert_eq!(slots.admit(&neighbour(100), 100), Admission::Known);
        assert!(slots.release(&slow[0]).is_empty(), "eight are taken yet");
        assert_eq!(slots.release(&slow[1]), [neighbour(100)]);
    }

    #[test]
    fn a_domain_is_two_labels_or_a_network() {
        for (host, expected) in [
            ("a.b.example.com", "example.com"),
            ("localhost", "localhost"),
            ("8.8.4.4", "8.8.4.0/24"),
            ("[2606:4700:1::1]", "2606:4700::/32"),
        ] {
            assert_eq!(domain(host), expected);
        }
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
