//! A comment made while collecting.

use alloy::primitives::Address;
use shared::store::{StoreError, engine::PrimaryKey};

use crate::{
    apply::{applier::Applier, comment::Said, kind::Kind},
    event::{ChainEvent, MintCommented},
};

impl MintCommented {
    fn said(&self, event: &ChainEvent) -> Said<'_> {
        let Self { collection, token, sender, text } = self;
        let (collection, token, sender, time) = (*collection, *token, *sender, event.at.time);
        Said { collection, token, sender, text, time, in_protocol: None, sparks: 0 }
    }
}

impl Kind for MintCommented {
    fn names(&self) -> Option<Address> {
        Some(self.sender)
    }

    fn uri(&self) -> Option<&str> {
        None
    }

    fn reads(&self, event: &ChainEvent, applier: &Applier<'_>) -> Vec<PrimaryKey> {
        applier.comment_keys(&event.at, self.said(event))
    }

    async fn apply(
        &self,
        event: &ChainEvent,
        applier: &mut Applier<'_>,
        _done: u64,
    ) -> Result<Option<u64>, StoreError> {
        if let Some(new) = applier.comment(&event.at, self.said(event)) {
            applier.add_comment(&event.at, &new).await?;
        }
        Ok(None)
    }
}
