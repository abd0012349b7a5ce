//! The indexer's part of the store: unit of work, journal and progress.

mod bulk;
mod images;
mod journal;
mod log;
mod progress;
mod unit_of_work;
mod usage;

pub(in crate::store) use self::bulk::Bulk;
pub use self::{
    journal::{CommitError, Extent, Journal, Opened, Prepared},
    progress::{BlockId, EventPlace, Progress},
    unit_of_work::{UnitOfWork, Weight},
    usage::Usage,
};
