//! The kinds of facts: one module each says what its facts read, name and apply.

mod collection_changed;
mod collection_created;
mod commented;
mod edition_minted;
mod mint_commented;
mod moment_created;
mod permissions_set;
mod purchased;
mod royalty_set;
mod sale_set;
mod sparked;
mod split_created;
mod tier_uri_set;
mod transferred;
mod uri_set;

use alloy::primitives::Address;
use shared::store::{StoreError, engine::PrimaryKey};

use super::{applier::Applier, kind::Kind};
use crate::event::{ChainEvent, Fact};

/// Evaluates `$call` for a fact of any kind.
macro_rules! of_any_kind {
    ($fact:expr, $kind:ident => $call:expr) => {
        match $fact {
            Fact::CollectionCreated($kind) => $call,
            Fact::CollectionChanged($kind) => $call,
            Fact::MomentCreated($kind) => $call,
            Fact::UriSet($kind) => $call,
            Fact::PermissionsSet($kind) => $call,
            Fact::RoyaltySet($kind) => $call,
            Fact::SaleSet($kind) => $call,
            Fact::SplitCreated($kind) => $call,
            Fact::Transferred($kind) => $call,
            Fact::EditionMinted($kind) => $call,
            Fact::TierUriSet($kind) => $call,
            Fact::Purchased($kind) => $call,
            Fact::MintCommented($kind) => $call,
            Fact::Commented($kind) => $call,
            Fact::Sparked($kind) => $call,
        }
    };
}

impl Kind for Fact {
    fn names(&self) -> Option<Address> {
        of_any_kind!(self, kind => kind.names())
    }

    fn uri(&self) -> Option<&str> {
        of_any_kind!(self, kind => kind.uri())
    }

    fn reads(&self, event: &ChainEvent, applier: &Applier<'_>) -> Vec<PrimaryKey> {
        of_any_kind!(self, kind => kind.reads(event, applier))
    }

    async fn reads_next(&self, event: &ChainEvent, applier: &mut Applier<'_>) -> Result<Vec<PrimaryKey>, StoreError> {
        of_any_kind!(self, kind => kind.reads_next(event, applier).await)
    }

    async fn apply(&self, event: &ChainEvent, applier: &mut Applier<'_>, done: u64) -> Result<Option<u64>, StoreError> {
        of_any_kind!(self, kind => kind.apply(event, applier, done).await)
    }
}
