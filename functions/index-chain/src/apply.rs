//! Turns events into rows, in the order of the chain. Applying an event again changes nothing.

use std::collections::{BTreeSet, HashMap, hash_map::Entry};

use alloy::primitives::{Address, B256, U256};
use shared::{
    chain::{
        Chain,
        contracts::CommentsProtocol::{BackfilledComment, CommentIdentifier, Commented, SparkedComment},
        contracts::{Creator1155::SetupNewToken, CreatorFactory::SetupNewContract, MintCommenter::MintComment},
        node::Node,
    },
    model::{ChainId, Collection, Comment, EventId, Moment, MomentRef, clip_comment},
    store::{Artists, Comments, Moments, NewComment, StoreError},
};

use crate::{
    event::{ChainEvent, EventKind},
    follow::IndexError,
};

/// The rows of one chain.
pub struct Index {
    moments: Moments,
    comments: Comments,
    artists: Artists,
    /// Every collection of the chain, once read; kept from one run to the next.
    collections: Option<BTreeSet<Address>>,
}

/// What events need besides themselves.
struct Context<'a> {
    chain: &'a Chain,
    block_times: HashMap<u64, u64>,
    usernames: HashMap<shared::model::Address, String>,
}

impl Index {
    /// Rows kept in these places.
    pub fn new(moments: Moments, comments: Comments, artists: Artists) -> Self {
        Self { moments, comments, artists, collections: None }
    }

    /// The collections that are known. Read from storage at the first call.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn collections(&mut self, chain: ChainId) -> Result<&mut BTreeSet<Address>, StoreError> {
        if self.collections.is_none() {
            let stored = self.moments.collection_addresses(chain).await?;
            self.collections = Some(stored.into_iter().map(Into::into).collect());
        }
        Ok(self.collections.get_or_insert_default())
    }

    /// Applies events in their order.
    ///
    /// # Errors
    /// When nodes or storage fail; the events before are then applied.
    pub async fn apply(&mut self, chain: &Chain, node: &Node, events: Vec<ChainEvent>) -> Result<(), IndexError> {
        let context = self.context(chain, node, &events).await?;
        for event in events {
            self.apply_one(&context, event).await?;
        }
        Ok(())
    }

    async fn context<'a>(
        &self,
        chain: &'a Chain,
        node: &Node,
        events: &[ChainEvent],
    ) -> Result<Context<'a>, IndexError> {
        let mut block_times = HashMap::new();
        for event in events {
            if let Entry::Vacant(unknown) = block_times.entry(event.block) {
                let time = match event.block_time {
                    Some(time) => time,
                    None => node.block_time(event.block).await?,
                };
                unknown.insert(time);
            }
        }
        let senders: BTreeSet<_> = events.iter().filter_map(ChainEvent::commenter).map(Into::into).collect();
        let usernames = self.artists.usernames(&Vec::from_iter(senders)).await?;
        Ok(Context { chain, block_times, usernames })
    }

    async fn apply_one(&mut self, context: &Context<'_>, event: ChainEvent) -> Result<(), IndexError> {
        let addresses = &context.chain.addresses;
        let minters = [addresses.fixed_price_minter, addresses.erc20_minter, addresses.timed_minter];
        let emitter = event.emitter;
        let in_protocol = emitter == addresses.comments;
        match &event.kind {
            EventKind::CollectionCreated(created) if emitter == addresses.factory => {
                self.moments.add_collection(&context.collection(&event, created)).await?;
                self.collections(context.chain.id).await?.insert(created.newContract);
            }
            EventKind::MomentCreated(created) if self.knows(emitter) => {
                self.moments.add_moment(&context.moment(&event, created)).await?;
            }
            EventKind::MintComment(said) if minters.contains(&emitter) && self.knows(said.tokenContract) => {
                self.comments.add(&context.mint_comment(&event, said)).await?;
            }
            EventKind::Commented(said) if in_protocol && self.knows(said.commentIdentifier.contractAddress) => {
                self.comments.add(&context.comment(&event, said)).await?;
            }
            EventKind::Backfilled(said) if in_protocol && self.knows(said.commentIdentifier.contractAddress) => {
                self.comments.add(&context.backfilled_comment(&event, said)).await?;
            }
            EventKind::Sparked(sparked) if in_protocol => {
                self.add_sparks(context, &event, sparked).await?;
            }
            // The same topic from a contract that has no say in it.
            _ => {}
        }
        Ok(())
    }

    async fn add_sparks(
        &self,
        context: &Context<'_>,
        event: &ChainEvent,
        sparked: &SparkedComment,
    ) -> Result<(), StoreError> {
        let quantity = sparked.sparksQuantity.saturating_to();
        self.comments.add_sparks(context.chain.id, sparked.commentId.into(), context.id(event), quantity).await
    }

    fn knows(&self, collection: Address) -> bool {
        self.collections.as_ref().is_some_and(|known| known.contains(&collection))
    }
}

impl ChainEvent {
    /// Who said something, if the event is a comment.
    fn commenter(&self) -> Option<Address> {
        match &self.kind {
            EventKind::MintComment(said) => Some(said.sender),
            EventKind::Commented(said) => Some(said.commentIdentifier.commenter),
            EventKind::Backfilled(said) => Some(said.commentIdentifier.commenter),
            _ => None,
        }
    }
}

impl Context<'_> {
    fn id(&self, event: &ChainEvent) -> EventId {
        EventId::new(self.chain.id, event.transaction, event.log_index)
    }

    /// Unix time in seconds.
    fn time(&self, event: &ChainEvent) -> u64 {
        self.block_times.get(&event.block).copied().unwrap_or_default()
    }

    fn collection(&self, event: &ChainEvent, created: &SetupNewContract) -> Collection {
        Collection {
            chain_id: self.chain.id,
            address: created.newContract.into(),
            name: created.name.clone(),
            uri: created.contractURI.clone(),
            creator: created.creator.into(),
            default_admin: created.defaultAdmin.into(),
            created_at: self.time(event),
        }
    }

    fn moment(&self, event: &ChainEvent, created: &SetupNewToken) -> Moment {
        Moment {
            chain_id: self.chain.id,
            collection: event.emitter.into(),
            token_id: created.tokenId.into(),
            uri: created.newURI.clone(),
            max_supply: created.maxSupply.into(),
            created_at: self.time(event),
        }
    }

    fn mint_comment(&self, event: &ChainEvent, said: &MintComment) -> NewComment {
        let on = self.moment_ref(said.tokenContract, said.tokenId);
        self.said(event, on, said.sender, &said.comment, self.time(event), None)
    }

    fn comment(&self, event: &ChainEvent, said: &Commented) -> NewComment {
        let reply_to = (said.replyToId != B256::ZERO).then_some(said.replyToId);
        let time = said.timestamp.saturating_to();
        self.protocol_comment(event, &said.commentIdentifier, said.commentId, reply_to, &said.text, time)
    }

    fn backfilled_comment(&self, event: &ChainEvent, said: &BackfilledComment) -> NewComment {
        let time = said.timestamp.saturating_to();
        self.protocol_comment(event, &said.commentIdentifier, said.commentId, None, &said.text, time)
    }

    fn protocol_comment(
        &self,
        event: &ChainEvent,
        identifier: &CommentIdentifier,
        id: B256,
        reply_to: Option<B256>,
        text: &str,
        time: u64,
    ) -> NewComment {
        let on = self.moment_ref(identifier.contractAddress, identifier.tokenId);
        let in_protocol = Some((id, identifier.nonce, reply_to));
        self.said(event, on, identifier.commenter, text, time, in_protocol)
    }

    /// A comment, with its id, nonce and parent where it has them.
    fn said(
        &self,
        event: &ChainEvent,
        moment: MomentRef,
        sender: Address,
        text: &str,
        time: u64,
        in_protocol: Option<(B256, B256, Option<B256>)>,
    ) -> NewComment {
        let sender = sender.into();
        let comment = Comment {
            id: self.id(event),
            sender,
            username: self.usernames.get(&sender).cloned().unwrap_or_default(),
            comment: clip_comment(text.to_owned()),
            timestamp: time.saturating_mul(1000),
            comment_id: in_protocol.map(|(id, _, _)| id.into()),
            nonce: in_protocol.map(|(_, nonce, _)| nonce.into()),
            reply_to_id: in_protocol.and_then(|(_, _, reply_to)| reply_to).map(Into::into),
        };
        NewComment { moment, comment }
    }

    fn moment_ref(&self, collection: Address, token: U256) -> MomentRef {
        MomentRef { chain: self.chain.id, collection: collection.into(), token: token.into() }
    }
}
