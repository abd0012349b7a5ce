//! A kind of fact, and what every kind must say.

use alloy::primitives::Address;
use shared::store::{StoreError, engine::PrimaryKey};

use super::applier::Applier;
use crate::event::ChainEvent;

/// A kind of fact. `event` is always the event that has the fact.
pub trait Kind {
    /// The account whose username is looked up before the fact is applied.
    fn names(&self) -> Option<Address>;

    /// The metadata URI whose document is looked up, and queued to be fetched, before the fact is applied.
    fn uri(&self) -> Option<&str>;

    /// Keys of rows that are read together with those of other events before the fact is applied.
    fn reads(&self, event: &ChainEvent, applier: &Applier<'_>) -> Vec<PrimaryKey>;

    /// Keys that follow from the rows of [`Kind::reads`]: these are read together, too.
    async fn reads_next(&self, _event: &ChainEvent, _applier: &mut Applier<'_>) -> Result<Vec<PrimaryKey>, StoreError> {
        Ok(Vec::new())
    }

    /// Applies the fact, or its tokens from number `done` on while there is room. Returns the number of the first token
    /// that is left.
    async fn apply(&self, event: &ChainEvent, applier: &mut Applier<'_>, done: u64) -> Result<Option<u64>, StoreError>;
}
