//! Bulk loading of a ranked set that has no rows yet.

use serde::Serialize;

use super::{
    node::{Node, Part},
    rank_key::RankKey,
    set::RankedSet,
    tree::{FIRST_NODE, NodeRow, Root},
};
use crate::store::engine::table::{Item, StoreError, row};

/// Builds the rows of a set in memory.
pub struct SetLoader<'a> {
    set: &'a RankedSet,
    keys: Vec<RankKey>,
}

impl RankedSet {
    /// Starts building the set's rows.
    pub fn loader(&self) -> SetLoader<'_> {
        SetLoader { set: self, keys: Vec::new() }
    }
}

impl SetLoader<'_> {
    /// Returns the row of a member; each member is added once.
    pub fn member(&mut self, key: RankKey, value: &impl Serialize) -> Result<Item, StoreError> {
        self.keys.push(key);
        row(&self.set.member_key(key), value)
    }

    /// Returns the rows of the tree.
    pub fn finish(mut self) -> Result<Vec<Item>, StoreError> {
        let shape = self.set.shape;
        let (loaded, node_bytes) = shape.loaded;
        self.keys.sort_unstable();
        let (mut root, mut before) = (Node::default(), None);
        for members in self.keys.chunks(usize::try_from(loaded).unwrap_or(usize::MAX)) {
            let Some(first) = members.first() else { continue };
            let first = before.map_or(RankKey::MIN, |before| first.shortest_above(before));
            root.parts.push(Part::bucket(first, members.len() as u64));
            before = members.last().copied();
        }
        let (mut rows, mut next_id) = (Vec::new(), FIRST_NODE);
        if root.parts.len() > shape.in_root {
            let kept = root.parts.split_off(root.parts.len() - shape.kept_in_root());
            for node in std::mem::take(&mut root).split(node_bytes) {
                root.parts.extend(node.as_part(next_id));
                rows.push(row(&self.set.node_key(next_id), &NodeRow { node })?);
                next_id += 1;
            }
            root.parts.extend(kept);
        }
        if !root.parts.is_empty() {
            rows.push(row(&self.set.root_key(), &Root { node: root, next_id })?);
        }
        Ok(rows)
    }
}
