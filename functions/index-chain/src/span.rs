//! How many blocks to ask for at a time.

/// Most blocks asked for at a time.
const MOST: u64 = 10_000;

/// After how many ranges in a row that were given a refused length is tried again.
const PATIENCE: u32 = 20;

/// How many blocks to ask for: doubled as long as nodes give them, then brought near what they refused, which is tried
/// again only now and then.
#[derive(Debug)]
pub struct Span {
    blocks: u64,
    /// The most that was given lately.
    given: u64,
    /// The least that was refused lately.
    refused: Option<u64>,
    given_since: u32,
}

impl Default for Span {
    fn default() -> Self {
        Self { blocks: 1_000, given: 0, refused: None, given_since: 0 }
    }
}

impl Span {
    /// The last block to ask for.
    pub fn end(&self, first: u64, last: u64) -> u64 {
        last.min(first.saturating_add(self.blocks - 1))
    }

    /// So many blocks were given.
    pub fn succeeded(&mut self, blocks: u64) {
        // Less than was allowed says nothing of whether more would be given.
        if blocks < self.blocks {
            return;
        }
        self.given = blocks;
        self.given_since += 1;
        self.refused = self.refused.filter(|&refused| refused > blocks);
        self.blocks = match self.refused {
            None => blocks.saturating_mul(2).min(MOST),
            Some(refused) if self.given_since >= PATIENCE => refused,
            // Within a tenth it isn't worth another refusal.
            Some(refused) if refused - blocks > blocks / 10 + 1 => blocks.midpoint(refused),
            Some(_) => blocks,
        };
    }

    /// So many blocks were refused.
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

    /// Reads `count` blocks from a node that gives `limit` at a time; how many questions it takes.
    fn questions(limit: u64, count: u64) -> u64 {
        let (mut span, mut next, mut questions) = (Span::default(), 0, 0);
        while next < count {
            questions += 1;
            let blocks = span.end(next, count - 1) - next + 1;
            if blocks <= limit {
                next += blocks;
                span.succeeded(blocks);
            } else {
                span.failed(blocks);
            }
        }
        questions
    }

    #[test]
    fn a_node_that_gives_little_is_asked_for_about_as_much_as_it_gives() {
        for limit in [1, 7, 10, 100, 999, 1_000, 2_000, 9_999, 10_000] {
            let count = limit * 200;
            let asked = questions(limit, count);
            assert!(asked <= 250, "{asked} questions for 200 times {limit} blocks");
        }
    }
}
