//! The size at which a batch ends.

use shared::store::engine::UnitOfWork;

/// Most changed rows and bytes of a batch. The last event, or part of one, may exceed them a little.
#[derive(Clone, Copy, Debug)]
pub struct BatchLimit {
    pub rows: usize,
    pub bytes: usize,
}

impl BatchLimit {
    /// Whether the changes reach it.
    pub fn is_reached(self, work: &UnitOfWork) -> bool {
        let weight = work.weight();
        weight.rows >= self.rows || weight.bytes >= self.bytes || work.has_enough_events()
    }
}
