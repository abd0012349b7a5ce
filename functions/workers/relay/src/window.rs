//! The part of the queue that a turn reads: its first transactions, and one page further on. Pages that have none that can
//! go are passed one after the other, and then again from the first, so that held transactions hide nobody for good.

use std::{collections::HashSet, mem};

use shared::{
    model::{ArtistId, ConcurrencyKey, TransactionId},
    store::artist::Queued,
};

use crate::{chain::ChainRelay, error::RelayError};

pub(crate) struct Window {
    /// Transactions of a page.
    len: usize,
    /// The place after which the further page begins; `None` where the first one ends.
    after: Option<String>,
    /// What was read last, and the last place of it; `None` if it is the queue's end.
    pages: Vec<Queued>,
    end: Option<String>,
    sweep: Sweep,
}

/// What was seen on the way from the first page to the cursor. Transactions come into the queue behind the cursor, too.
#[derive(Default)]
struct Sweep {
    seen: HashSet<TransactionId>,
    /// What the sweep before saw: all that their artists queued earlier has been in the queue since before this one began.
    known: HashSet<TransactionId>,
    passed: Passed,
}

/// Whose transactions were passed, with their keys: later ones wait for them.
#[derive(Clone, Default)]
struct Passed {
    artists: HashSet<ArtistId>,
    keys: HashSet<ConcurrencyKey>,
}

impl Window {
    pub(crate) fn new(len: usize) -> Self {
        Self { len, after: None, pages: Vec::new(), end: None, sweep: Sweep::default() }
    }

    /// The queue's first transactions and, if there are more, those of the further page that overtake none of their
    /// artist's, or that are late, given the Unix time in seconds. One read of each page in each queue.
    pub(crate) async fn read(&mut self, relay: &ChainRelay, now: u64) -> Result<Vec<Queued>, RelayError> {
        let (store, chain) = (&relay.transactions, relay.chain.id);
        let mut queue = store.queued(chain, self.len).await?;
        let Some(last) = queue.last().filter(|_| queue.len() >= self.len).map(|last| last.place.clone()) else {
            *self = Self::new(self.len);
            return Ok(queue);
        };
        if self.after.as_ref().is_some_and(|after| *after <= last) {
            self.start_over();
        }
        let page = store.queued_after(chain, self.after.as_ref().unwrap_or(&last), self.len).await?;
        self.end = page.last().filter(|_| page.len() >= self.len).map(|last| last.place.clone());
        self.pages = queue.iter().chain(&page).cloned().collect();
        self.sweep.seen.extend(self.pages.iter().map(|queued| queued.transaction_id));
        queue.extend(if self.after.is_some() { self.sweep.without_later(page, now) } else { page });
        Ok(queue)
    }

    /// Goes on to the next page: of what was read last, nothing more can go now.
    pub(crate) fn move_on(&mut self) {
        match self.end.take() {
            Some(end) => {
                self.pages.iter().for_each(|queued| self.sweep.passed.add(queued));
                self.after = Some(end);
            }
            None => self.start_over(),
        }
    }

    fn start_over(&mut self) {
        self.after = None;
        self.sweep = Sweep { known: mem::take(&mut self.sweep.seen), ..Sweep::default() };
    }
}

impl Sweep {
    /// A page without the transactions that would overtake one before it. Those that are late only end.
    fn without_later(&self, mut page: Vec<Queued>, now: u64) -> Vec<Queued> {
        let mut passed = self.passed.clone();
        page.retain(|queued| {
            let is_free = self.known.contains(&queued.transaction_id) && !passed.keeps_back(queued);
            if !is_free {
                passed.add(queued);
            }
            is_free || queued.is_late(now)
        });
        page
    }
}

impl Passed {
    fn keeps_back(&self, queued: &Queued) -> bool {
        self.artists.contains(&queued.artist_id) || queued.concurrency_key.is_some_and(|key| self.keys.contains(&key))
    }

    fn add(&mut self, queued: &Queued) {
        self.artists.insert(queued.artist_id);
        let ordered = queued.concurrency_key.filter(|key| key.keeps_order() || queued.not_before.is_some());
        self.keys.extend(ordered);
    }
}

#[cfg(test)]
mod tests {
    use shared::model::WriteKind;

    use super::*;

    fn queued(artist_id: ArtistId, place: &str) -> Queued {
        Queued {
            kind: WriteKind::Plain,
            place: place.to_owned(),
            artist_id,
            transaction_id: TransactionId::new(),
            concurrency_key: None,
            valid_until: None,
            max_batch_len: None,
            not_before: None,
            plan_hash: String::new(),
        }
    }

    #[test]
    fn transactions_of_a_further_page_overtake_none_of_their_artist() {
        let (passed, newcomer, other) = (ArtistId::random(), ArtistId::random(), ArtistId::random());
        let mut sweep = Sweep::default();
        sweep.passed.add(&queued(passed, "1"));
        let page = [queued(passed, "5"), queued(newcomer, "6"), queued(other, "7"), queued(newcomer, "8")];
        // The newcomer's first one may have come in together with one behind the cursor.
        sweep.known.extend([0, 2, 3].map(|known: usize| page[known].transaction_id));

        for _ in 0..2 {
            assert_eq!(sweep.without_later(page.to_vec(), 0), [page[2].clone()]);
        }
    }

    #[test]
    fn late_transactions_of_a_further_page_are_kept_to_end() {
        let passed = ArtistId::random();
        let mut sweep = Sweep::default();
        sweep.passed.add(&queued(passed, "1"));
        let until = |artist_id, place, valid_until| Queued { valid_until, ..queued(artist_id, place) };
        let late = [until(passed, "5", Some(9)), until(ArtistId::random(), "6", Some(10))];
        let page = [&late[..], &[until(passed, "7", Some(11)), until(passed, "8", None)]].concat();

        assert_eq!(sweep.without_later(page, 10), late);
    }

    #[test]
    fn sweep_begins_anew_at_the_end_of_the_queue() {
        let (mut window, artist) = (Window::new(1), ArtistId::random());
        window.pages = vec![queued(artist, "1"), queued(artist, "2")];
        window.sweep.seen.extend(window.pages.iter().map(|queued| queued.transaction_id));
        window.end = Some("2".to_owned());
        window.move_on();
        assert_eq!(window.after.as_deref(), Some("2"));
        assert!(window.sweep.passed.artists.contains(&artist));

        window.move_on();

        assert_eq!((window.after.as_deref(), window.sweep.known.len()), (None, 2));
        assert!(window.sweep.passed.artists.is_empty());
    }
}
