//! Comments as they are stored.

use alloy::primitives::{Address, B256, U256};
use shared::{
    model::{Comment, EventData, clip_comment},
    store::{
        StoreError,
        chain::{NewComment, collection_key},
        engine::PrimaryKey,
    },
};

use super::{applier::Applier, events};
use crate::event::Position;

/// A comment as its event has it.
pub struct Said<'a> {
    pub collection: Address,
    pub token: U256,
    pub sender: Address,
    pub text: &'a str,
    /// Unix time in seconds.
    pub time: u64,
    pub in_protocol: Option<InProtocol>,
    pub sparks: u64,
}

/// Fields that only comments of the protocol have.
#[derive(Clone, Copy)]
pub struct InProtocol {
    pub id: B256,
    pub nonce: B256,
    pub reply_to: Option<B256>,
}

impl Applier<'_> {
    /// The comment of an event; `None` when its collection is unknown.
    pub(super) fn comment(&self, at: &Position, said: Said<'_>) -> Option<NewComment> {
        if !self.knows(said.collection) {
            return None;
        }
        let (sender, in_protocol) = (said.sender.into(), said.in_protocol);
        let comment = Comment {
            id: self.id(at),
            sender,
            username: self.names.name(sender).to_owned(),
            comment: clip_comment(said.text.to_owned()),
            timestamp: said.time.saturating_mul(1000),
            comment_id: in_protocol.map(|of| of.id.into()),
            nonce: in_protocol.map(|of| of.nonce.into()),
            reply_to_id: in_protocol.and_then(|of| of.reply_to).map(Into::into),
        };
        Some(NewComment { moment: self.place(said.collection, said.token), comment, sparks: said.sparks })
    }

    /// Keys of the rows that [`Applier::add_comment`] reads.
    pub(super) fn comment_keys(&self, at: &Position, said: Said<'_>) -> Vec<PrimaryKey> {
        let Some(new) = self.comment(at, said) else { return Vec::new() };
        let mut keys: Vec<PrimaryKey> = new.keys().collect();
        keys.push(collection_key(self.chain.id, new.moment.collection));
        keys
    }

    /// Adds a comment and emits it, unless it is there.
    pub(super) async fn add_comment(&mut self, at: &Position, new: &NewComment) -> Result<(), StoreError> {
        if !self.work.add_comment(new).await? {
            return Ok(());
        }
        if let Some(id) = new.comment.comment_id.filter(|id| self.withheld.has_comment(self.chain.id, *id)) {
            self.work.withhold_comment(self.chain.id, id, true).await?;
        }
        match self.work.collection(self.chain.id, new.moment.collection).await? {
            Some(collection) => self.emit(at, 0, EventData::CommentCreated(events::comment(at, new, &collection))),
            None => Ok(()),
        }
    }
}
