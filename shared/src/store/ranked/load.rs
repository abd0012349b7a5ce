//! A whole set at once, for a table that has none of it.

use serde::Serialize;

use super::{
    RankKey, RankedSet,
    node::{Child, Entry, Node},
    tree::{NodeRow, Root},
};
use crate::store::{Item, Key, StoreError, row};

/// About how many entries a new node gets: most of what fits, so that it can grow.
const LEAF_ENTRIES: usize = 140;
const INNER_ENTRIES: usize = 100;

/// Makes the rows of a set of which nothing is stored.
pub struct SetLoader<'a> {
    set: &'a RankedSet,
    keys: Vec<RankKey>,
    next_id: u32,
}

impl RankedSet {
    /// Makes the set's rows outside of the table.
    pub fn loader(&self) -> SetLoader<'_> {
        SetLoader { set: self, keys: Vec::new(), next_id: Root::FIRST_ID }
    }
}

impl SetLoader<'_> {
    /// The row of a member, each of which is told once.
    ///
    /// # Errors
    /// When the row can't be written down, which is a fault of ours.
    pub fn member(&mut self, key: RankKey, value: &impl Serialize) -> Result<Item, StoreError> {
        self.keys.push(key);
        row(&self.set.member_key(key), value)
    }

    /// The rows of the tree over all members.
    ///
    /// # Errors
    /// When a row can't be written down, which is a fault of ours.
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

    /// Puts entries into nodes; gives what the floor above says of them.
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
                let key: Key = self.set.node_key(id);
                rows.push(row(&key, &NodeRow { node })?);
            }
        }
        Ok(children)
    }
}
