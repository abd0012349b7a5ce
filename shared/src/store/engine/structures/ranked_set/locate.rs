//! Positions in a ranked set.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use serde::Deserialize;

use super::{
    node::{Node, Target},
    place::Place,
    rank_key::RankKey,
    set::RankedSet,
    tree::FIRST_NODE,
};
use crate::store::engine::table::{ChainTable, PrimaryKey, StoreError, Table};

/// Roots that a process remembers: two megabytes at most.
const MAX_REMEMBERED: usize = 128;

/// Reads ranked sets. Remembers how their roots were: these tell which nodes a page will need, to be read along with the root.
#[derive(Clone)]
pub struct RankedSets {
    pub(in crate::store) table: Table,
    remembered: Arc<Mutex<HashMap<String, Node>>>,
}

/// A set's root, and the nodes that were read with it.
pub(super) struct Tree {
    pub(super) root: Node,
    /// By sort key.
    nodes: HashMap<String, Node>,
}

/// A bucket and its place.
pub(super) struct Bucket {
    pub(super) first: RankKey,
    /// First key after it.
    pub(super) end: Option<RankKey>,
    pub(super) count: u64,
    /// Members before it.
    pub(super) before: u64,
}

#[derive(Deserialize)]
struct TreeRow {
    sk: String,
    node: Node,
}

impl RankedSets {
    /// Reads the sets of a table.
    pub fn new(table: ChainTable) -> Self {
        Self { table: table.0, remembered: Arc::default() }
    }

    /// Takes no row that was read before the last write.
    pub(super) fn consistent(&self) -> Self {
        Self { table: self.table.clone().consistent(), remembered: self.remembered.clone() }
    }

    /// Returns the number of members. One read.
    pub async fn count(&self, set: &RankedSet) -> Result<u64, StoreError> {
        Ok(self.tree(set, Place::FIRST).await?.root.count())
    }

    /// The root, and the nodes that a page needs unless the root has changed much. One read.
    pub(super) async fn tree(&self, set: &RankedSet, place: Place) -> Result<Tree, StoreError> {
        let nodes: BTreeSet<u32> = match self.remembered(set) {
            Some(root) => place.parts(&root).map(|part| part.node).filter(|node| *node != 0).collect(),
            None if place.is_first() => BTreeSet::new(),
            None => [FIRST_NODE].into(),
        };
        let root_key = set.root_key();
        let keys = nodes.into_iter().map(|node| set.node_key(node)).chain([root_key.clone()]);
        let mut nodes = self.nodes(keys).await?;
        let root = nodes.remove(&root_key.sk).unwrap_or_default();
        self.remember(set, &root);
        Ok(Tree { root, nodes })
    }

    /// Finds a bucket; `None` if the tree changed since the root was read. No read if its node was read with the root.
    pub(super) async fn bucket(
        &self,
        set: &RankedSet,
        tree: &Tree,
        target: Target,
    ) -> Result<Option<Bucket>, StoreError> {
        let Some((at, part)) = tree.root.find(target, 0) else { return Ok(None) };
        let (before, end) = (tree.root.count_before(at), tree.root.end_of(at));
        if part.is_bucket() {
            return Ok(Some(Bucket { first: part.first, end, count: part.count, before }));
        }
        let key = set.node_key(part.node);
        let node = match tree.nodes.get(&key.sk) {
            Some(node) => Some(node.clone()),
            None => self.nodes([key.clone()]).await?.remove(&key.sk),
        };
        let Some(node) = node.map(|node| node.starting_at(part.first)) else { return Ok(None) };
        Ok(node.find(target, before).map(|(below, bucket)| Bucket {
            first: bucket.first,
            end: node.end_of(below).or(end),
            count: bucket.count,
            before: before + node.count_before(below),
        }))
    }

    /// Nodes and roots by sort key. One read.
    async fn nodes(&self, keys: impl IntoIterator<Item = PrimaryKey>) -> Result<HashMap<String, Node>, StoreError> {
        let rows = self.table.get_many(keys).await?;
        Ok(rows.into_iter().map(|TreeRow { sk, node }| (sk, node)).collect())
    }

    fn remembered(&self, set: &RankedSet) -> Option<Node> {
        let roots = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        roots.get(&set.partition).cloned()
    }

    fn remember(&self, set: &RankedSet, root: &Node) {
        let mut roots = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if roots.len() >= MAX_REMEMBERED && !roots.contains_key(&set.partition) {
            roots.clear();
        }
        roots.insert(set.partition.clone(), root.clone());
    }
}
