//! A comment or reply in the comments protocol.

use alloy::primitives::Address;
use shared::{
    model::EventId,
    store::{StoreError, engine::PrimaryKey},
};

use crate::{
    apply::{
        applier::Applier,
        comment::{InProtocol, Said},
        kind::Kind,
    },
    event::{ChainEvent, ProtocolComment},
};

impl ProtocolComment {
    fn said(&self) -> Said<'_> {
        let Self { collection, token, sender, id, nonce, reply_to, time, sparks, .. } = *self;
        let in_protocol = Some(InProtocol { id, nonce, reply_to });
        Said { collection, token, sender, text: &self.text, time, in_protocol, sparks }
    }
}

impl Kind for ProtocolComment {
    fn names(&self) -> Option<Address> {
        Some(self.sender)
    }

    fn uri(&self) -> Option<&str> {
        None
    }

    fn reads(&self, event: &ChainEvent, applier: &Applier<'_>) -> Vec<PrimaryKey> {
        applier.comment_keys(&event.at, self.said())
    }

    async fn apply(
        &self,
        event: &ChainEvent,
        applier: &mut Applier<'_>,
        _done: u64,
    ) -> Result<Option<u64>, StoreError> {
        let Some(new) = applier.comment(&event.at, self.said()) else { return Ok(None) };
        if let Some(original) = self.original
            && let Some(log_index) = original.log_index
        {
            let id = EventId::new(applier.chain.id, original.transaction, log_index);
            if applier.work.adopt_comment(id, &new).await? {
                return Ok(None);
            }
        }
        applier.add_comment(&event.at, &new).await?;
        Ok(None)
    }
}
