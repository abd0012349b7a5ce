use super::rank_key::RankKey;
use crate::store::engine::{rows, table::PrimaryKey};

/// A set, stored in one partition.
#[derive(Clone, Debug)]
pub struct RankedSet {
    pub(super) partition: String,
    pub(super) shape: Shape,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) bucket: u64,
    /// Buckets that the root lists itself; further ones are in nodes.
    pub(super) in_root: usize,
    pub(super) node_bytes: usize,
    /// Members of a bucket and bytes of a node that are loaded at once.
    pub(super) loaded: (u64, usize),
}

impl Shape {
    pub(super) fn kept_in_root(self) -> usize {
        self.in_root / 8
    }
}

/// A change rewrites a node, so one fits into a single write unit.
const MOVING: Shape = Shape { bucket: 128, in_root: 64, node_bytes: 880, loaded: (84, 586) };

/// Changes are mostly in the root's buckets, so a node may be as large as half a read unit takes: some 280,000 members.
const GROWING: Shape = Shape { bucket: 256, in_root: 64, node_bytes: 3_800, loaded: (224, 3_800) };

impl RankedSet {
    /// The set in this partition; members come and move anywhere.
    pub fn moving(partition: impl Into<String>) -> Self {
        Self { partition: partition.into(), shape: MOVING }
    }

    /// The set in this partition; members come mostly at the end and stay.
    pub fn growing(partition: impl Into<String>) -> Self {
        Self { partition: partition.into(), shape: GROWING }
    }

    pub(super) fn member_key(&self, key: RankKey) -> PrimaryKey {
        rows::ranked_member(&self.partition, key.score, key.id)
    }

    pub(in crate::store) fn root_key(&self) -> PrimaryKey {
        rows::ranked_root(&self.partition)
    }

    pub(super) fn node_key(&self, id: u32) -> PrimaryKey {
        rows::ranked_node(&self.partition, id)
    }
}
