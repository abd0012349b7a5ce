//! What every room stands on: the tables, structures of rows, the index's unit of work, and leases.

pub(super) mod event_segments;
pub(super) mod index;
pub(super) mod lease;
pub(super) mod rows;
pub(super) mod structures;
pub(super) mod table;

pub use self::{
    event_segments::{LogHead, NumberedEvent},
    index::{BlockId, CommitError, EventPlace, Extent, Journal, Opened, Prepared, Progress, UnitOfWork, Usage, Weight},
    lease::{LEASE_TIMEOUT, Lease, LeaseLost, LeasedWork},
    rows::{INDEX, Row, STRUCTURES, Section},
    structures::ranked_set::{Direction, RankKey, RankedPage, RankedSet, RankedSets, SetLoader},
    table::{Item, PrimaryKey, StoreError},
};
pub(crate) use table::backoff;
