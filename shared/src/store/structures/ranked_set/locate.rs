//! Positions in a ranked set.

use serde::Deserialize;

use super::{
    node::{Node, Target},
    rank_key::RankKey,
    set::RankedSet,
    tree::{FIRST_NODE, NodeRow, Root},
};
use crate::store::table::{StoreError, Table};

/// The root, and the first node if it was read too.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) root: Node,
    first: Option<Node>,
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

impl RankedSet {
    /// One read.
    pub(super) async fn root(&self, table: &Table) -> Result<Tree, StoreError> {
        let root: Option<Root> = table.get(&self.root_key()).await?;
        Ok(Tree { root: root.map(|root| root.node).unwrap_or_default(), first: None })
    }

    /// One read of both.
    pub(super) async fn root_and_first_node(&self, table: &Table) -> Result<Tree, StoreError> {
        let root_key = self.root_key();
        let mut tree = Tree::default();
        for TreeRow { sk, node } in table.get_many([root_key.clone(), self.node_key(FIRST_NODE)]).await? {
            if sk == root_key.sk { tree.root = node } else { tree.first = Some(node) }
        }
        Ok(tree)
    }

    /// Finds a bucket; `None` if the tree changed since the root was read. At most one read.
    pub(super) async fn bucket(
        &self,
        table: &Table,
        tree: &Tree,
        target: Target,
    ) -> Result<Option<Bucket>, StoreError> {
        let Some((at, part)) = tree.root.find(target, 0) else { return Ok(None) };
        let (before, end) = (tree.root.count_before(at), tree.root.end_of(at));
        if part.is_bucket() {
            return Ok(Some(Bucket { first: part.first, end, count: part.count, before }));
        }
        let node = match &tree.first {
            Some(first) if part.node == FIRST_NODE => Some(first.clone()),
            _ => table.get(&self.node_key(part.node)).await?.map(|row: NodeRow| row.node),
        };
        let Some(node) = node.map(|node| node.starting_at(part.first)) else { return Ok(None) };
        Ok(node.find(target, before).map(|(below, bucket)| Bucket {
            first: bucket.first,
            end: node.end_of(below).or(end),
            count: bucket.count,
            before: before + node.count_before(below),
        }))
    }
}
