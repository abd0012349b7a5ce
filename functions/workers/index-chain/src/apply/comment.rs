//! Comments made while collecting, and those of the comments protocol.

use alloy::primitives::{Address, B256};
use shared::{
    model::{Comment, EventId, MomentRef, clip_comment},
    store::{StoreError, chain::NewComment},
};

use super::Applier;
use crate::event::{ChainEvent, Fact, Position, ProtocolComment};

/// Fields that only comments of the protocol have.
#[derive(Clone, Copy)]
struct InProtocol {
    id: B256,
    nonce: B256,
    reply_to: Option<B256>,
}

impl Applier<'_> {
    /// The comment of an event; `None` when its collection is unknown.
    pub(super) fn comment_of(&self, event: &ChainEvent) -> Option<NewComment> {
        match &event.fact {
            Fact::MintCommented { collection, token, sender, text } if self.knows(*collection) => {
                let on = self.place(*collection, *token);
                Some(self.said(&event.at, on, *sender, text, event.at.time, None, 0))
            }
            Fact::Commented(said) if self.knows(said.collection) => {
                let ProtocolComment { id, nonce, reply_to, time, sparks, .. } = *said;
                let on = self.place(said.collection, said.token);
                let in_protocol = Some(InProtocol { id, nonce, reply_to });
                Some(self.said(&event.at, on, said.sender, &said.text, time, in_protocol, sparks))
            }
            _ => None,
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a comment has as many parts")]
    fn said(
        &self,
        at: &Position,
        moment: MomentRef,
        sender: Address,
        text: &str,
        time: u64,
        in_protocol: Option<InProtocol>,
        sparks: u64,
    ) -> NewComment {
        let sender = sender.into();
        let comment = Comment {
            id: self.id(at),
            sender,
            username: self.names.get(&sender).cloned().unwrap_or_default(),
            comment: clip_comment(text.to_owned()),
            timestamp: time.saturating_mul(1000),
            comment_id: in_protocol.map(|of| of.id.into()),
            nonce: in_protocol.map(|of| of.nonce.into()),
            reply_to_id: in_protocol.and_then(|of| of.reply_to).map(Into::into),
        };
        NewComment { moment, comment, sparks }
    }

    pub(super) async fn commented(&mut self, event: &ChainEvent) -> Result<(), StoreError> {
        let Some(new) = self.comment_of(event) else { return Ok(()) };
        if let Fact::Commented(ProtocolComment { original: Some(original), .. }) = &event.fact
            && let Some(log_index) = original.log_index
        {
            let id = EventId::new(self.chain.id, original.transaction, log_index);
            if self.work.adopt_comment(id, &new).await? {
                return Ok(());
            }
        }
        if self.work.add_comment(&new).await? {
            self.tell_comment(&event.at, &new).await?;
        }
        Ok(())
    }
}
