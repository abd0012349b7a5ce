//! Chance that a seed decides.

use alloy::primitives::keccak256;

/// A deterministic source of pseudo-random numbers.
pub struct Dice(u64);

impl Dice {
    /// Starts from a seed.
    pub fn at(start: u64) -> Self {
        Self(start)
    }

    /// A number below `sides`.
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 += 1;
        let hash = keccak256(self.0.to_be_bytes());
        hash.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes)) % sides
    }

    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(usize::try_from(self.roll(from.len().max(1) as u64)).ok()?)
    }
}
