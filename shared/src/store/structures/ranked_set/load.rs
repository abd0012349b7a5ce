//! Bulk loading of a ranked set that has no rows yet.

use serde::Serialize;

use super::{
    node::{Child, Entry, Node},
    rank_key::RankKey,
    set::RankedSet,
    tree::{NodeRow, Root},
};
use crate::store::table::{Item, PrimaryKey, StoreError, row};

/// Nodes start about two thirds full, so that they can grow.
const LEAF_ENTRIES: usize = 140;
const INNER_ENTRIES: usize = 100;

/// Builds the rows of a set in memory.
pub struct SetLoader<'a> {
    set: &'a RankedSet,
    keys: Vec<RankKey>,
    next_id: u32,
}

impl RankedSet {
    /// Starts building the set's rows.
    pub fn loader(&self) -> SetLoader<'_> {
        SetLoader { set: self, keys: Vec::new(), next_id: Root::FIRST_ID }
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
        let mut keys = std::mem::take(&mut self.keys);
        keys.sort_unstable();
        let mut rows = Vec::new();
        let leaves = self.floor(&keys, LEAF_ENTRIES, &mut rows)?;
        let inner = self.floor(&leaves, INNER_ENTRIES, &mut rows)?;
        if !inner.is_empty() {
            let root = Root { node: Node { entries: inner }, next_id: self.next_id };
            rows.push(row(&self.set.root_key(), &root)?);
        }
        Ok(rows)
    }

    fn floor<E: Entry>(
        &mut self,
        entries: &[E],
        in_one: usize,
        rows: &mut Vec<Item>,
    ) -> Result<Vec<Child>, StoreError> {
        let mut children = Vec::new();
        for entries in entries.chunks(in_one) {
            let node = Node { entries: entries.to_vec() };
            for node in node.split(false, self.set.max_bytes) {
                let id = self.next_id;
                self.next_id += 1;
                children.extend(node.as_child(id));
                let key: PrimaryKey = self.set.node_key(id);
                rows.push(row(&key, &NodeRow { node })?);
            }
        }
        Ok(children)
    }
}
