//! Changes to a ranked set. The tree has three levels at any size; only the root is unbounded.

use std::ops::Range;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    node::{Child, Entry, Node},
    rank_key::RankKey,
    set::RankedSet,
};
use crate::store::{
    index::UnitOfWork,
    table::{PrimaryKey, StoreError},
};

pub(super) trait ReadRows: Send {
    fn get<R: DeserializeOwned + Send>(
        &mut self,
        key: &PrimaryKey,
    ) -> impl Future<Output = Result<Option<R>, StoreError>> + Send;
}

/// Rows of a single writer, who commits all changes together.
pub(super) trait Rows: ReadRows {
    fn put(&mut self, key: &PrimaryKey, fields: &(impl Serialize + Sync)) -> Result<(), StoreError>;

    fn delete(&mut self, key: &PrimaryKey);
}

impl ReadRows for UnitOfWork {
    async fn get<R: DeserializeOwned + Send>(&mut self, key: &PrimaryKey) -> Result<Option<R>, StoreError> {
        Self::get(self, key).await
    }
}

impl UnitOfWork {
    /// Loads all nodes that changing these places needs, level by level. One read per 100 nodes.
    pub async fn prefetch_places(&mut self, places: &[(&RankedSet, RankKey)]) -> Result<(), StoreError> {
        self.prefetch(places.iter().map(|(set, _)| set.root_key())).await?;
        let mut inner = Vec::new();
        for &(set, key) in places {
            let root: Option<Root> = self.get(&set.root_key()).await?;
            inner.extend(root.and_then(|root| root.node.child_of(key)).map(|id| (set, key, set.node_key(id))));
        }
        self.prefetch(inner.iter().map(|(_, _, node)| node.clone())).await?;
        let mut leaves = Vec::new();
        for (set, key, node) in inner {
            let node: Option<NodeRow<Child>> = self.get(&node).await?;
            leaves.extend(node.and_then(|row| row.node.child_of(key)).map(|id| set.node_key(id)));
        }
        self.prefetch(leaves).await
    }
}

impl Rows for UnitOfWork {
    fn put(&mut self, key: &PrimaryKey, fields: &(impl Serialize + Sync)) -> Result<(), StoreError> {
        Self::put(self, key, fields)
    }

    fn delete(&mut self, key: &PrimaryKey) {
        Self::delete(self, key);
    }
}

#[derive(Serialize, Deserialize)]
#[serde(bound = "E: Entry")]
pub(super) struct NodeRow<E> {
    pub(super) node: Node<E>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Root {
    pub(super) node: Node<Child>,
    pub(super) next_id: u32,
}

impl Root {
    pub(super) const FIRST_ID: u32 = 1;
}

struct Place {
    at: usize,
    id: u32,
}

#[derive(Clone, Copy)]
struct Cause {
    key: RankKey,
    removed: bool,
}

impl RankedSet {
    /// Adds or replaces a member. Three reads.
    pub async fn insert(
        &self,
        unit: &mut UnitOfWork,
        key: RankKey,
        value: &(impl Serialize + Sync),
    ) -> Result<(), StoreError> {
        self.put_member(unit, key, value).await
    }

    /// Removes a member, if there. Three reads; five if nodes are joined.
    pub async fn remove(&self, unit: &mut UnitOfWork, key: RankKey) -> Result<(), StoreError> {
        self.delete_member(unit, key).await
    }

    /// Replaces the value of a member, which must be there. No read.
    pub fn replace(&self, unit: &mut UnitOfWork, key: RankKey, value: &impl Serialize) -> Result<(), StoreError> {
        unit.put(&self.member_key(key), value)
    }

    async fn put_member(
        &self,
        rows: &mut impl Rows,
        key: RankKey,
        value: &(impl Serialize + Sync),
    ) -> Result<(), StoreError> {
        rows.put(&self.member_key(key), value)?;
        let insert = |leaf: &mut Node<RankKey>| match leaf.entries.binary_search(&key) {
            Ok(_) => false,
            Err(place) => {
                leaf.entries.insert(place, key);
                true
            }
        };
        self.edit(rows, Cause { key, removed: false }, insert).await
    }

    async fn delete_member(&self, rows: &mut impl Rows, key: RankKey) -> Result<(), StoreError> {
        rows.delete(&self.member_key(key));
        let remove = |leaf: &mut Node<RankKey>| match leaf.entries.binary_search(&key) {
            Ok(place) => {
                leaf.entries.remove(place);
                true
            }
            Err(_) => false,
        };
        self.edit(rows, Cause { key, removed: true }, remove).await
    }

    async fn edit(
        &self,
        rows: &mut impl Rows,
        cause: Cause,
        change: impl FnOnce(&mut Node<RankKey>) -> bool + Send,
    ) -> Result<(), StoreError> {
        let root = rows.get(&self.root_key()).await?.unwrap_or(Root { node: Node::EMPTY, next_id: Root::FIRST_ID });
        let Root { node: mut root, mut next_id } = root;
        let (inner_place, mut inner) = self.below(rows, &root, cause.key, &mut next_id).await?;
        let (leaf_place, mut leaf) = self.below(rows, &inner, cause.key, &mut next_id).await?;
        if !change(&mut leaf) {
            return Ok(());
        }
        self.settle(rows, &mut inner, leaf_place, leaf, cause, &mut next_id).await?;
        self.settle(rows, &mut root, inner_place, inner, cause, &mut next_id).await?;
        if root.entries.is_empty() {
            rows.delete(&self.root_key());
            return Ok(());
        }
        rows.put(&self.root_key(), &Root { node: root, next_id })
    }

    async fn below<E: Entry>(
        &self,
        rows: &mut impl Rows,
        parent: &Node<Child>,
        key: RankKey,
        next_id: &mut u32,
    ) -> Result<(Place, Node<E>), StoreError> {
        let at = parent.covering(key);
        match parent.entries.get(at) {
            Some(child) => Ok((Place { at, id: child.id }, self.node(rows, child.id).await?)),
            None => Ok((Place { at, id: new_id(next_id) }, Node::EMPTY)),
        }
    }

    /// Puts a changed node back: deleted if empty, joined with a neighbour if sparse, split if too large.
    async fn settle<E: Entry>(
        &self,
        rows: &mut impl Rows,
        parent: &mut Node<Child>,
        place: Place,
        mut node: Node<E>,
        cause: Cause,
        next_id: &mut u32,
    ) -> Result<(), StoreError> {
        let Place { at, mut id } = place;
        let mut replaced = at..parent.entries.len().min(at + 1);
        if node.entries.is_empty() {
            rows.delete(&self.node_key(id));
            parent.entries.drain(replaced);
            return Ok(());
        }
        if cause.removed
            && node.is_sparse(self.max_bytes)
            && let Some((pair, kept, dropped)) = neighbours(parent, at)
        {
            let other: Node<E> = self.node(rows, if kept == id { dropped } else { kept }).await?;
            let (first, second) = if kept == id { (&node, &other) } else { (&other, &node) };
            if let Some(joined) = first.joined(second, self.max_bytes) {
                rows.delete(&self.node_key(dropped));
                (node, id, replaced) = (joined, kept, pair);
            }
        }
        let is_last = replaced.end == parent.entries.len();
        let grew_at_end = is_last && node.entries.last().is_some_and(|last| last.key() <= cause.key);
        let mut parts = Vec::new();
        for (index, part) in node.split(grew_at_end, self.max_bytes).into_iter().enumerate() {
            let id = if index == 0 { id } else { new_id(next_id) };
            parts.extend(part.as_child(id));
            rows.put(&self.node_key(id), &NodeRow { node: part })?;
        }
        parent.entries.splice(replaced, parts);
        Ok(())
    }

    async fn node<E: Entry>(&self, rows: &mut impl Rows, id: u32) -> Result<Node<E>, StoreError> {
        let row: Option<NodeRow<E>> = rows.get(&self.node_key(id)).await?;
        row.map(|row| row.node).ok_or(StoreError::Missing("a node of a ranked set"))
    }
}

fn neighbours(parent: &Node<Child>, at: usize) -> Option<(Range<usize>, u32, u32)> {
    let first = if at + 1 < parent.entries.len() { at } else { at.checked_sub(1)? };
    let (one, other) = (parent.entries.get(first)?, parent.entries.get(first + 1)?);
    Some((first..first + 2, one.id, other.id))
}

fn new_id(next_id: &mut u32) -> u32 {
    let id = *next_id;
    *next_id += 1;
    id
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};

    use proptest::prelude::*;

    use super::*;
    use crate::store::table::{Item, row};

    #[derive(Default)]
    struct Memory(HashMap<PrimaryKey, Item>);

    impl ReadRows for Memory {
        async fn get<R: DeserializeOwned + Send>(&mut self, key: &PrimaryKey) -> Result<Option<R>, StoreError> {
            Ok(self.0.get(key).cloned().map(serde_dynamo::from_item).transpose()?)
        }
    }

    impl Rows for Memory {
        fn put(&mut self, key: &PrimaryKey, fields: &(impl Serialize + Sync)) -> Result<(), StoreError> {
            self.0.insert(key.clone(), row(key, fields)?);
            Ok(())
        }

        fn delete(&mut self, key: &PrimaryKey) {
            self.0.remove(key);
        }
    }

    #[derive(Serialize, Deserialize)]
    struct Value {}

    async fn apply(set: &RankedSet, rows: &mut Memory, changes: &[(bool, RankKey)]) -> BTreeSet<RankKey> {
        let mut expected = BTreeSet::new();
        for &(added, key) in changes {
            if added {
                expected.insert(key);
                set.put_member(rows, key, &Value {}).await.unwrap();
            } else {
                expected.remove(&key);
                set.delete_member(rows, key).await.unwrap();
            }
        }
        expected
    }

    async fn check(set: &RankedSet, rows: &mut Memory, expected: &BTreeSet<RankKey>) {
        let Some(root) = set.root(rows).await.unwrap() else {
            assert!(expected.is_empty() && rows.0.is_empty());
            return;
        };
        assert_eq!(root.count(), expected.len() as u64);
        for (index, &key) in expected.iter().enumerate() {
            assert_eq!(set.key_at(rows, &root, index as u64).await.unwrap(), Some(key));
            assert_eq!(set.count_below(rows, &root, key).await.unwrap(), Some(index as u64));
            let next = RankKey { id: key.id.saturating_add(1), ..key };
            assert_eq!(set.count_below(rows, &root, next).await.unwrap(), Some(index as u64 + 1));
        }
        assert_eq!(set.key_at(rows, &root, expected.len() as u64).await.unwrap(), None);

        let (mut nodes, mut leaves) = (1, Vec::new());
        for child in &root.entries {
            let inner: Node<Child> = set.node(rows, child.id).await.unwrap();
            assert_eq!(inner.as_child(child.id).as_ref(), Some(child));
            assert!(inner.to_bytes().len() <= set.max_bytes);
            nodes += 1 + inner.entries.len();
            leaves.extend(inner.entries);
        }
        for child in leaves {
            let leaf: Node<RankKey> = set.node(rows, child.id).await.unwrap();
            assert_eq!(leaf.as_child(child.id), Some(child));
            assert!(leaf.to_bytes().len() <= set.max_bytes);
        }
        assert_eq!(rows.0.len(), nodes + expected.len(), "unreferenced rows");
    }

    fn key() -> impl Strategy<Value = RankKey> {
        let score = prop_oneof![0..4_u128, 0..1_000_u128, Just(u128::MAX), any::<u128>()];
        (score, prop_oneof![0..50_u128, any::<u128>()]).prop_map(|(score, id)| RankKey { score, id })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn bulk_loaded_set_can_be_changed(
            keys in prop::collection::btree_set(key(), 0..600),
            max_bytes in 110..900_usize,
        ) {
            let set = RankedSet { partition: "SET".to_owned(), max_bytes };
            run(async {
                let mut loader = set.loader();
                let mut items: Vec<_> = keys.iter().rev().map(|key| loader.member(*key, &Value {}).unwrap()).collect();
                items.extend(loader.finish().unwrap());
                let keyed = |item: Item| (serde_dynamo::from_item::<_, PrimaryKey>(item.clone()).unwrap(), item);
                let mut rows = Memory(items.into_iter().map(keyed).collect());
                check(&set, &mut rows, &keys).await;
                let mut left = keys.clone();
                for key in keys.iter().step_by(3) {
                    set.delete_member(&mut rows, *key).await.unwrap();
                    left.remove(key);
                }
                check(&set, &mut rows, &left).await;
            });
        }
    }

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn positions_match_a_sorted_list(
            keys in prop::collection::vec(key(), 1..300),
            changes in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 0..900),
            max_bytes in 110..400_usize,
        ) {
            let set = RankedSet { partition: "SET".to_owned(), max_bytes };
            let changes: Vec<_> = changes.iter().map(|(added, index)| (*added, *index.get(&keys))).collect();
            run(async {
                let mut rows = Memory::default();
                let expected = apply(&set, &mut rows, &changes).await;
                check(&set, &mut rows, &expected).await;
                let removals: Vec<_> = expected.iter().map(|key| (false, *key)).collect();
                apply(&set, &mut rows, &removals).await;
                check(&set, &mut rows, &BTreeSet::new()).await;
            });
        }
    }

    #[test]
    fn inserts_in_order_fill_the_nodes() {
        run(async {
            let (set, mut rows) = (RankedSet::new("SET"), Memory::default());
            let keys: Vec<_> = (0..20_000).map(|score| (true, RankKey { score, id: !score })).collect();
            let expected = apply(&set, &mut rows, &keys).await;
            let nodes = rows.0.len() - expected.len();
            // A key takes 17 bytes: 223 fill a leaf.
            assert_eq!(nodes, 20_000_usize.div_ceil(223) + 2);
        });
    }
}
