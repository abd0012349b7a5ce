//! What the work on rows takes.

use std::ops::AddAssign;

/// DynamoDB usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Read calls.
    pub reads: u64,
    /// Write calls.
    pub writes: u64,
    /// Rows written or deleted.
    pub rows_written: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.rows_written += other.rows_written;
    }
}
