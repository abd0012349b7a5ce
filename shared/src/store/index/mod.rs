//! The indexer's part of the store: unit of work, journal and progress.

mod journal;
mod progress;
mod unit_of_work;

pub use self::{
    journal::{CommitError, Journal},
    progress::{BlockId, Progress},
    unit_of_work::{UnitOfWork, Usage},
};
