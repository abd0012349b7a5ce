//! Positions in a ranked set, in three reads. `None` means that the tree changed between them.

use super::{
    node::{Child, Entry, Node},
    rank_key::RankKey,
    set::RankedSet,
    tree::{NodeRow, ReadRows, Root},
};
use crate::store::table::StoreError;

impl RankedSet {
    pub(super) async fn root(&self, rows: &mut impl ReadRows) -> Result<Option<Node<Child>>, StoreError> {
        let root: Option<Root> = rows.get(&self.root_key()).await?;
        Ok(root.map(|root| root.node))
    }

    pub(super) async fn count_below(
        &self,
        rows: &mut impl ReadRows,
        root: &Node<Child>,
        key: RankKey,
    ) -> Result<Option<u64>, StoreError> {
        if key == RankKey::MIN {
            return Ok(Some(0));
        }
        let Some((before_inner, inner)) = self.covering::<Child>(rows, root, key).await? else { return Ok(None) };
        let Some((before_leaf, leaf)) = self.covering::<RankKey>(rows, &inner, key).await? else { return Ok(None) };
        let in_leaf = leaf.entries.partition_point(|member| *member < key) as u64;
        Ok(Some(before_inner + before_leaf + in_leaf))
    }

    /// Also returns the number of members before it.
    async fn covering<E: Entry>(
        &self,
        rows: &mut impl ReadRows,
        parent: &Node<Child>,
        key: RankKey,
    ) -> Result<Option<(u64, Node<E>)>, StoreError> {
        let at = parent.covering(key);
        let Some(child) = parent.entries.get(at) else { return Ok(None) };
        let node = self.read_node(rows, child.id).await?;
        Ok(node.map(|node| (parent.count_before(at), node)))
    }

    pub(super) async fn key_at(
        &self,
        rows: &mut impl ReadRows,
        root: &Node<Child>,
        index: u64,
    ) -> Result<Option<RankKey>, StoreError> {
        let Some((child, index)) = root.at(index) else { return Ok(None) };
        let Some(inner) = self.read_node::<Child>(rows, child.id).await? else { return Ok(None) };
        let Some((child, index)) = inner.at(index) else { return Ok(None) };
        let leaf = self.read_node::<RankKey>(rows, child.id).await?;
        Ok(leaf.and_then(|leaf| leaf.at(index)).map(|(key, _)| key))
    }

    async fn read_node<E: Entry>(&self, rows: &mut impl ReadRows, id: u32) -> Result<Option<Node<E>>, StoreError> {
        let row: Option<NodeRow<E>> = rows.get(&self.node_key(id)).await?;
        Ok(row.map(|row| row.node))
    }
}
