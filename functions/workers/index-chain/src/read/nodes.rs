//! The nodes of a chain, and which of them is asked. A node is left when it lags behind the others or the clock, when it
//! follows another chain, and when it claims a height that it can't show.

use std::time::{Duration, Instant};

use futures::future::join_all;
use shared::{
    chain::{
        Chain,
        node::{BlockFacts, Node, NodeError},
    },
    clock,
    model::ChainId,
};

/// How often all nodes are compared.
const COMPARE_EVERY: Duration = Duration::from_secs(10);

/// Age of a newest block, in seconds, at which the other nodes are asked too.
const OLD: u64 = 30;

/// Blocks that a node may be behind the best one.
const MAX_BEHIND: u64 = 2;

/// Blocks by which the height may rise without proof.
const MAX_RISE: u64 = 8;

/// The nodes of one chain.
pub struct Nodes {
    nodes: Vec<KnownNode>,
    /// Index of the node that is asked first.
    preferred: usize,
    compared_at: Option<Instant>,
    /// Height of the newest block that was accepted.
    height: Option<u64>,
    finalized: Option<u64>,
    /// Whether the nodes know no `finalized` block, so that depth alone makes blocks final.
    is_by_depth: bool,
    reorg_depth: u64,
    chain: ChainId,
    pub calls: u64,
}

struct KnownNode {
    node: Node,
    /// Whether it follows the chain; `None` until asked.
    is_of_chain: Option<bool>,
}

/// The newest block that was accepted.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Header of the preferred node's newest block.
    pub block: BlockFacts,
    /// The last block that can't be dropped.
    pub final_block: Option<u64>,
}

impl Nodes {
    pub fn exist(&self) -> bool {
        !self.nodes.is_empty()
    }

    pub fn new(chain: &Chain, nodes: &Node) -> Self {
        Self {
            nodes: nodes.each().map(|node| KnownNode { node, is_of_chain: None }).collect(),
            preferred: 0,
            compared_at: None,
            height: None,
            finalized: None,
            is_by_depth: !chain.has_finalized_tag,
            reorg_depth: chain.reorg_depth,
            chain: chain.id,
            calls: 0,
        }
    }

    /// Compares the nodes anew, and asks them for their chains again: addresses may lead elsewhere than a run ago.
    pub fn recheck(&mut self) {
        self.compared_at = None;
        for known in &mut self.nodes {
            known.is_of_chain = None;
        }
    }

    pub fn chain_id(&self) -> ChainId {
        self.chain
    }

    pub fn get(&self, index: usize) -> Node {
        self.nodes[index].node.clone()
    }

    /// The node that is asked first.
    pub fn preferred(&self) -> Node {
        self.get(self.preferred)
    }

    pub fn prefer(&mut self, index: usize) {
        self.preferred = index;
    }

    /// Indexes of the nodes that may be asked, the preferred one first.
    pub fn order(&self) -> Vec<usize> {
        let count = self.nodes.len();
        let order = (0..count).map(|step| (self.preferred + step) % count);
        order.filter(|index| self.nodes[*index].is_of_chain != Some(false)).collect()
    }

    /// The newest block: the preferred node's, or the best of all where that is old, lacks block `known`, or was not
    /// compared for a while.
    pub async fn head(&mut self, known: Option<u64>) -> Result<Head, NodeError> {
        let is_compared = self.compared_at.is_some_and(|at| at.elapsed() < COMPARE_EVERY);
        if is_compared && self.nodes[self.preferred].is_of_chain == Some(true) {
            let head = self.head_of(self.preferred).await;
            self.calls += 1;
            if let Some(block) =
                head.ok().filter(|block| known.is_none_or(|known| block.number >= known) && !is_old(block))
            {
                return Ok(self.accept(block));
            }
        }
        self.compare().await
    }

    /// Asks all nodes, and prefers one that isn't behind the best.
    async fn compare(&mut self) -> Result<Head, NodeError> {
        if self.nodes.is_empty() {
            return Err(NodeError::None(self.chain));
        }
        self.check_chains().await;
        let order = self.order();
        let heads = join_all(order.iter().map(|index| self.head_of(*index))).await;
        self.calls += order.len() as u64;
        let mut last = NodeError::Wrong("no node follows this chain");
        let mut answers: Vec<(usize, BlockFacts)> = Vec::new();
        for (index, head) in order.into_iter().zip(heads) {
            match head {
                Ok(block) => answers.push((index, block)),
                Err(error) => {
                    tracing::warn!(chain.id = self.chain.0, node = index, %error, "newest block not read from node");
                    last = error;
                }
            }
        }
        let best = answers.iter().map(|(_, block)| block.number).max().ok_or(last)?;
        answers.retain(|(_, block)| block.number.saturating_add(MAX_BEHIND) >= best);
        let (index, block) = answers[0];
        if index != self.preferred {
            tracing::warn!(chain.id = self.chain.0, node = index, best, "node is preferred from now on");
        }
        self.preferred = index;
        self.compared_at = Some(Instant::now());
        self.learn_finality(&answers).await;
        Ok(self.accept(block))
    }

    /// Learns the lowest final block of the nodes that say theirs. A node that only fails for now says nothing: the last
    /// answer stays true.
    async fn learn_finality(&mut self, answers: &[(usize, BlockFacts)]) {
        if self.is_by_depth {
            return;
        }
        self.calls += answers.len() as u64;
        let nodes: Vec<Node> = answers.iter().map(|(index, _)| self.get(*index)).collect();
        let said = join_all(nodes.iter().map(Node::finalized)).await;
        let lowest = said.iter().filter_map(|it| Some(it.as_ref().ok()?.map_or(0, |block| block.number))).min();
        let lack_the_tag = said.iter().all(|it| it.as_ref().is_err_and(|error| !error.fault().is_temporary()));
        self.is_by_depth = lack_the_tag && self.finalized.is_none();
        self.finalized = lowest.or(self.finalized);
    }

    fn accept(&mut self, block: BlockFacts) -> Head {
        self.height = Some(block.number);
        let final_block = if self.is_by_depth { block.number.checked_sub(self.reorg_depth) } else { self.finalized };
        Head { block, final_block: final_block.map(|last| last.min(block.number)) }
    }

    /// The newest block of a node. A height that rises by more than a few blocks must come with the block before it.
    async fn head_of(&self, index: usize) -> Result<BlockFacts, NodeError> {
        let node = &self.nodes[index].node;
        let head = node.head().await?;
        let rise = head.number.saturating_sub(self.height.unwrap_or_default());
        if rise > MAX_RISE {
            let before = node.block(head.number - 1).await?;
            if before.hash != head.parent || before.time > head.time {
                return Err(NodeError::Wrong("its newest block has no parent"));
            }
        }
        Ok(head)
    }

    async fn check_chains(&mut self) {
        let chain = self.chain;
        let open: Vec<_> = self.nodes.iter_mut().filter(|known| known.is_of_chain != Some(true)).collect();
        self.calls += open.len() as u64;
        join_all(open.into_iter().map(|known| async move {
            known.is_of_chain = known.node.chain_id().await.ok().map(|id| id == chain);
            if known.is_of_chain == Some(false) {
                tracing::error!(chain.id = chain.0, "node of RPC_URLS ignored: it follows another chain");
            }
        }))
        .await;
    }
}

/// Whether a block is old by the clock, so that the node may be stuck.
fn is_old(block: &BlockFacts) -> bool {
    clock::now().is_ok_and(|now| now.as_secs() > block.time.saturating_add(OLD))
}
