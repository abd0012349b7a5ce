use super::{node, rank_key::RankKey};
use crate::store::table::PrimaryKey;

/// A set, stored in one partition.
#[derive(Clone, Debug)]
pub struct RankedSet {
    pub(super) partition: String,
    pub(super) max_bytes: usize,
}

impl RankedSet {
    /// The set in this partition.
    pub fn new(partition: impl Into<String>) -> Self {
        Self { partition: partition.into(), max_bytes: node::MAX_BYTES }
    }

    pub(super) fn member_key(&self, key: RankKey) -> PrimaryKey {
        PrimaryKey::new(&self.partition, format!("{:032x}{:032x}", key.score, key.id))
    }

    pub(in crate::store) fn root_key(&self) -> PrimaryKey {
        PrimaryKey::new(&self.partition, "root")
    }

    pub(super) fn node_key(&self, id: u32) -> PrimaryKey {
        PrimaryKey::new(&self.partition, format!("node#{id}"))
    }
}
