//! How facts are read: what contracts say as of one block, by one call.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use alloy::primitives::{Address, B256};
use futures::{
    FutureExt, StreamExt,
    channel::mpsc::UnboundedSender,
    future::{BoxFuture, Shared, join, join_all, try_join_all},
    stream,
};
use shared::{
    chain::{
        Chain,
        node::{BlockFacts, Node, NodeError},
        protocol::{
            binding::Binding,
            provenance::{Origin, Provenance, made_by},
            splits,
        },
    },
    model::{self, ConcurrencyKey, MomentEdit, MomentUpdate, Plan, TransactionId},
    store::artist::Transaction,
};

use crate::{
    chain::{ChainRelay, SIDE_BY_SIDE},
    error::RelayError,
};

/// What transactions depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Question {
    /// A collection's next token.
    NextToken(model::Address),
    /// A moment, for a transaction that changes its sale, or moves it to the next token of another collection.
    Moment { id: TransactionId, key: ConcurrencyKey, next: Option<model::Address> },
    /// Whether the split is there that a transaction would create.
    Split(TransactionId),
    /// Collections that a transaction makes at addresses which only the factory can give.
    Made(TransactionId),
    /// Who made a collection.
    Origin(Address),
    /// Whether the chain has an account.
    Account(Address),
}

/// What a node, or the index, says.
pub(crate) enum Answer {
    /// What a plan depends on, and lanes' next nonces as of the same block.
    Binding(Box<Binding>, Vec<(model::Address, u64)>),
    /// The block lacks an earlier batch.
    Lagging,
    /// The split's address, and whether it is there.
    Split(Address, bool),
    Made(BTreeSet<Address>),
    Origin(Origin),
    Account(bool),
}

/// A question, and what it takes to answer it.
pub(crate) struct Asked {
    pub(crate) question: Question,
    pub(crate) account: Address,
    pub(crate) plan: Plan,
    /// Lanes with batches that may have changed what the plan depends on, and the newest ones' nonces.
    pub(crate) lanes: Vec<(model::Address, u64)>,
}

/// What was found as of the block with this hash.
pub(crate) struct Told {
    pub(crate) question: Question,
    pub(crate) block: B256,
    pub(crate) answer: Result<Answer, RelayError>,
}

/// Reads beside the leader's turns.
pub(crate) struct Reader {
    pub(crate) chain: Chain,
    node: Node,
    provenance: Provenance,
}

/// Lanes' next nonces: one call each, whoever asks.
type Nonces<'a> = HashMap<model::Address, Shared<BoxFuture<'a, Result<u64, Arc<NodeError>>>>>;

impl Question {
    /// What a plan's calls are made of, if it isn't known.
    pub(crate) fn of_plan(row: &Transaction) -> Option<Self> {
        let moment = |next| Some(Self::Moment { id: row.id, key: row.plan.concurrency_key()?, next });
        match &*row.plan {
            Plan::Tokens(tokens) => Some(Self::NextToken(tokens.collection)),
            Plan::Moment(MomentUpdate { edit: MomentEdit::Sale(_), .. }) => moment(None),
            Plan::Moving(moving) => moment(Some(moving.to)),
            Plan::Calls { .. } | Plan::Moment(_) => None,
        }
    }

    pub(crate) fn is_of_moment(self) -> bool {
        matches!(self, Self::Moment { .. })
    }

    /// Whether contracts answer it: all such questions are one call.
    fn is_of_contracts(self) -> bool {
        !matches!(self, Self::Origin(_) | Self::Account(_))
    }
}

impl Answer {
    /// Whether it is asked again before it is believed, in the same block as well.
    pub(crate) fn is_doubtful(&self) -> bool {
        match self {
            Self::Binding(binding, _) => **binding == Binding::Nothing,
            Self::Origin(origin) => *origin == Origin::Unknown,
            Self::Lagging | Self::Split(..) | Self::Made(_) | Self::Account(_) => false,
        }
    }
}

impl Reader {
    pub(crate) fn new(relay: &ChainRelay) -> Self {
        Self { chain: relay.chain.clone(), node: relay.node.clone(), provenance: relay.provenance.clone() }
    }

    /// The newest block; another node's, if there is one, where readings as of it failed. One call, and then one to
    /// each node.
    pub(crate) async fn head(&self, doubted: Option<B256>) -> Result<BlockFacts, NodeError> {
        let head = self.node.head().await?;
        if doubted != Some(head.hash) || self.node.count() == 1 {
            return Ok(head);
        }
        let heads = self.node.ask_all(|node| async move { node.head().await }).await;
        Ok(heads.into_iter().flatten().find(|other| other.hash != head.hash).unwrap_or(head))
    }

    /// Tells each answer once it is found. One call for what contracts say, one for each lane and each account, and
    /// what [`Provenance::of`] takes for each collection.
    pub(crate) async fn read(self: Arc<Self>, block: B256, asked: Vec<Asked>, answers: UnboundedSender<Told>) {
        // Transactions, receipts and nonces come first at a node that limits calls.
        let bulk = self.node.in_bulk();
        let (reader, node, answers) = (&*self, &bulk, &answers);
        let lanes: HashSet<_> = asked.iter().flat_map(|asked| asked.lanes.iter().map(|(lane, _)| *lane)).collect();
        let nonces: Nonces<'_> =
            lanes.into_iter().map(|lane| (lane, next_nonce(node, lane, block).boxed().shared())).collect();
        let nonces = &nonces;
        let (together, alone): (Vec<_>, Vec<_>) = asked.into_iter().partition(|asked| asked.question.is_of_contracts());
        let tell = |asked| reader.tell(node, asked, block, nonces, answers).boxed();
        let (together, alone): (Vec<_>, Vec<_>) =
            (together.into_iter().map(tell).collect(), alone.into_iter().map(tell).collect());
        join(join_all(together), stream::iter(alone).buffer_unordered(SIDE_BY_SIDE).collect::<()>()).await;
    }

    async fn tell(&self, node: &Node, asked: Asked, block: B256, nonces: &Nonces<'_>, answers: &UnboundedSender<Told>) {
        let (question, answer) = (asked.question, self.answer(node, asked, block, nonces).await);
        // The leader may have ended.
        let _ = answers.unbounded_send(Told { question, block, answer });
    }

    async fn answer(&self, node: &Node, asked: Asked, block: B256, nonces: &Nonces<'_>) -> Result<Answer, RelayError> {
        let Self { chain, provenance, .. } = self;
        let addresses = &chain.addresses;
        let Asked { question, account, plan, lanes } = asked;
        Ok(match question {
            Question::NextToken(_) | Question::Moment { .. } => {
                let nonces =
                    lanes.into_iter().filter_map(|(lane, used)| Some((lane, used, nonces.get(&lane)?.clone())));
                let nonces = nonces.map(|(lane, used, next)| async move {
                    Ok::<_, NodeError>((lane, used, next.await.map_err(NodeError::Shared)?))
                });
                let binding = Binding::read(node, addresses, &plan, Some(block));
                let (binding, nonces) = tokio::try_join!(binding, try_join_all(nonces))?;
                if nonces.iter().any(|(_, used, next)| next <= used) {
                    return Ok(Answer::Lagging);
                }
                Answer::Binding(Box::new(binding), nonces.into_iter().map(|(lane, _, next)| (lane, next)).collect())
            }
            Question::Split(_) => {
                let factory = addresses.split_factory;
                let (address, is_there) = match splits::creation(factory, &plan.outline(addresses)) {
                    Some(creation) => splits::find(node, factory, &creation, Some(block)).await?,
                    None => (Address::ZERO, false),
                };
                Answer::Split(address, is_there)
            }
            Question::Made(_) => Answer::Made(made_by(node, chain, account, &plan.outline(addresses), block).await?),
            Question::Origin(collection) => {
                let origin = provenance.of::<RelayError>(node, chain, collection.into()).await?;
                if origin == Origin::Factory {
                    provenance.keep(chain, collection.into()).await?;
                }
                Answer::Origin(origin)
            }
            Question::Account(account) => Answer::Account(node.has_code(account).await?),
        })
    }
}

async fn next_nonce(node: &Node, lane: model::Address, block: B256) -> Result<u64, Arc<NodeError>> {
    node.next_nonce(lane.into(), block).await.map_err(Arc::new)
}
