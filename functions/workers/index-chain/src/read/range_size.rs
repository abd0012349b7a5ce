//! How many blocks nodes are asked for at once.

/// Longest range, in blocks.
const MAX_BLOCKS: u64 = 10_000;

/// Events of a range that are aimed at: enough for a batch or two, so that the next one is read while it is applied.
const TARGET_EVENTS: u64 = 5_000;

/// Successes in a row after which a refused length is tried again.
const RETRY_AFTER: u32 = 20;

/// Length of the next range: doubles until nodes refuse or there are many events, then approaches the refused length, which
/// is tried again now and then.
#[derive(Debug)]
pub struct RangeSize {
    blocks: u64,
    /// The longest range given lately.
    given: u64,
    /// The shortest range refused lately.
    refused: Option<u64>,
    given_since: u32,
}

impl Default for RangeSize {
    fn default() -> Self {
        Self { blocks: 100, given: 0, refused: None, given_since: 0 }
    }
}

impl RangeSize {
    /// Last block of the next range.
    pub fn end(&self, first: u64, last: u64) -> u64 {
        last.min(first.saturating_add(self.blocks - 1))
    }

    /// Records that a range of so many blocks with so many events was given.
    pub fn succeeded(&mut self, blocks: u64, events: usize) {
        let most = (blocks.saturating_mul(TARGET_EVENTS) / (events as u64).max(1)).clamp(1, MAX_BLOCKS);
        // A range cut short by `last` says nothing about longer ones.
        if blocks < self.blocks {
            self.blocks = self.blocks.min(most);
            return;
        }
        self.given = blocks;
        self.given_since += 1;
        self.refused = self.refused.filter(|&refused| refused > blocks);
        self.blocks = match self.refused {
            None => blocks.saturating_mul(2),
            Some(refused) if self.given_since >= RETRY_AFTER => refused,
            // Closer than a tenth isn't worth another refusal.
            Some(refused) if refused - blocks > blocks / 10 + 1 => blocks.midpoint(refused),
            Some(_) => blocks,
        }
        .min(most);
    }

    /// Records that a range of so many blocks was refused.
    pub fn failed(&mut self, blocks: u64) {
        if self.given >= blocks {
            self.given = 0;
        }
        self.refused = Some(blocks);
        self.given_since = 0;
        self.blocks = if self.given > 0 { self.given } else { (blocks / 2).max(1) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests that it takes to read `count` blocks from a node that gives `limit` at a time.
    fn requests(limit: u64, count: u64) -> u64 {
        let (mut size, mut next, mut requests) = (RangeSize::default(), 0, 0);
        while next < count {
            requests += 1;
            let blocks = size.end(next, count - 1) - next + 1;
            if blocks <= limit {
                next += blocks;
                size.succeeded(blocks, 0);
            } else {
                size.failed(blocks);
            }
        }
        requests
    }

    #[test]
    fn size_approaches_the_limit_of_the_node() {
        for limit in [1, 7, 10, 100, 999, 1_000, 2_000, 9_999, 10_000] {
            let count = limit * 200;
            let requests = requests(limit, count);
            assert!(requests <= 250, "{requests} requests for 200 times {limit} blocks");
        }
    }

    #[test]
    fn busy_chain_keeps_ranges_small_until_it_is_quiet() {
        let mut size = RangeSize::default();
        let (mut largest, mut requests, mut next) = (0, 0, 0);
        while next < 10_000 {
            let blocks = size.end(next, u64::MAX) - next + 1;
            (next, requests) = (next + blocks, requests + 1);
            if requests > 1 {
                largest = largest.max(blocks * 180);
            }
            size.succeeded(blocks, usize::try_from(blocks * 180).unwrap());
        }
        assert!(largest <= TARGET_EVENTS && requests < 400, "{largest} events in a range, {requests} requests");
        for _ in 0..20 {
            size.succeeded(size.blocks, 0);
        }
        assert_eq!(size.blocks, MAX_BLOCKS);
    }
}
