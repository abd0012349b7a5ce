//! Sets whose members have a place: "page 500 of what satisfies X, in this order" costs what page 1 costs, and a member
//! may come, go or move anywhere in the order.
//!
//! Each set is a partition. A member's row has its place in its key, so that a page is one range of keys. Where the
//! range begins, a counted tree over the keys tells.
//!
//! - `sk = <score><id>`, 32 hexadecimal digits each: a member;
//! - `sk = root`, `sk = node#<number>`: the tree; they sort after all members.
//!
//! One writer for each set. Readers may come at any time: while a change is being written, a page may begin a few
//! members off.

mod load;
mod locate;
mod node;
mod read;
mod tree;

use super::Key;
pub use load::SetLoader;
pub use read::{Direction, RankedPage};

/// A member's place: by score, then by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RankKey {
    /// What the set is ordered by.
    pub score: u128,
    /// What orders equal scores, and tells the members apart.
    pub id: u128,
}

/// One set: a partition of a table.
#[derive(Clone, Debug)]
pub struct RankedSet {
    partition: String,
    /// Most bytes of a node.
    max_bytes: usize,
}

impl RankKey {
    /// The least key of all.
    pub const MIN: Self = Self::at_least(0);
    /// The greatest.
    pub const MAX: Self = Self { score: u128::MAX, id: u128::MAX };

    /// The least key with this score.
    pub const fn at_least(score: u128) -> Self {
        Self { score, id: 0 }
    }
}

impl RankedSet {
    /// The set in this partition.
    pub fn new(partition: impl Into<String>) -> Self {
        Self { partition: partition.into(), max_bytes: node::MAX_BYTES }
    }

    fn member_key(&self, key: RankKey) -> Key {
        Key::new(&self.partition, format!("{:032x}{:032x}", key.score, key.id))
    }

    pub(super) fn root_key(&self) -> Key {
        Key::new(&self.partition, "root")
    }

    fn node_key(&self, id: u32) -> Key {
        Key::new(&self.partition, format!("node#{id}"))
    }
}
