//! Changes to a ranked set. The root, alone unbounded, lists nodes and buckets; members have keys of their own.

use std::ops::Range;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    node::{Node, Part},
    rank_key::RankKey,
    set::RankedSet,
};
use crate::store::engine::{
    index::UnitOfWork,
    table::{PrimaryKey, StoreError},
};

/// Number of a set's first node; 0 stands for none.
pub(super) const FIRST_NODE: u32 = 1;

/// Rows of a single writer, who commits all changes together.
pub(super) trait Rows: Send {
    fn get<R: DeserializeOwned + Send>(
        &mut self,
        key: &PrimaryKey,
    ) -> impl Future<Output = Result<Option<R>, StoreError>> + Send;

    /// Sort keys of a partition, both ends included, sorted.
    fn sort_keys(
        &mut self,
        partition: &str,
        first: String,
        last: String,
    ) -> impl Future<Output = Result<Vec<String>, StoreError>> + Send;

    fn put(&mut self, key: &PrimaryKey, fields: &(impl Serialize + Sync)) -> Result<(), StoreError>;

    /// The caller knows that there is no such row.
    fn add(&mut self, key: &PrimaryKey, fields: &(impl Serialize + Sync)) -> Result<(), StoreError>;

    fn delete(&mut self, key: &PrimaryKey);
}

impl Rows for UnitOfWork {
    async fn get<R: DeserializeOwned + Send>(&mut self, key: &PrimaryKey) -> Result<Option<R>, StoreError> {
        Self::get(self, key).await
    }

    async fn sort_keys(&mut self, partition: &str, first: String, last: String) -> Result<Vec<String>, StoreError> {
        Self::sort_keys(self, partition, first, last).await
    }

    fn put(&mut self, key: &PrimaryKey, fields: &(impl Serialize + Sync)) -> Result<(), StoreError> {
        Self::put(self, key, fields)
    }

    fn add(&mut self, key: &PrimaryKey, fields: &(impl Serialize + Sync)) -> Result<(), StoreError> {
        Self::add(self, key, fields)
    }

    fn delete(&mut self, key: &PrimaryKey) {
        Self::delete(self, key);
    }
}

impl UnitOfWork {
    /// Loads all nodes that changing these places needs, level by level. One read per 100 nodes.
    pub async fn prefetch_places(&mut self, places: &[(&RankedSet, RankKey)]) -> Result<(), StoreError> {
        self.prefetch(places.iter().map(|(set, _)| set.root_key())).await?;
        let mut nodes = Vec::new();
        for &(set, key) in places {
            let root: Root = self.get(&set.root_key()).await?.unwrap_or_default();
            let part = root.node.parts.get(root.node.covering(key));
            nodes.extend(part.filter(|part| !part.is_bucket()).map(|part| set.node_key(part.node)));
        }
        self.prefetch(nodes).await
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct NodeRow {
    pub(super) node: Node,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Root {
    pub(super) node: Node,
    pub(super) next_id: u32,
}

impl Default for Root {
    fn default() -> Self {
        Self { node: Node::default(), next_id: FIRST_NODE }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Added,
    Removed,
}

impl RankedSet {
    /// Adds a member, which must not be there. At most three reads.
    pub async fn insert(
        &self,
        unit: &mut UnitOfWork,
        key: RankKey,
        value: &(impl Serialize + Sync),
    ) -> Result<(), StoreError> {
        self.add_member(unit, key, value).await
    }

    /// Removes a member, which must be there. At most three reads.
    pub async fn remove(&self, unit: &mut UnitOfWork, key: RankKey) -> Result<(), StoreError> {
        self.remove_member(unit, key).await
    }

    /// Replaces the value of a member, which must be there. No read.
    pub fn replace(&self, unit: &mut UnitOfWork, key: RankKey, value: &impl Serialize) -> Result<(), StoreError> {
        unit.put(&self.member_key(key), value)
    }

    async fn add_member(
        &self,
        rows: &mut impl Rows,
        key: RankKey,
        value: &(impl Serialize + Sync),
    ) -> Result<(), StoreError> {
        rows.add(&self.member_key(key), value)?;
        self.count_change(rows, key, Change::Added).await
    }

    async fn remove_member(&self, rows: &mut impl Rows, key: RankKey) -> Result<(), StoreError> {
        rows.delete(&self.member_key(key));
        self.count_change(rows, key, Change::Removed).await
    }

    async fn count_change(&self, rows: &mut impl Rows, key: RankKey, change: Change) -> Result<(), StoreError> {
        let mut root: Root = rows.get(&self.root_key()).await?.unwrap_or_default();
        if root.node.parts.is_empty() {
            root.node.parts.push(Part::bucket(RankKey::MIN, 0));
        }
        let at = root.node.covering(key);
        match root.node.parts.get(at).copied() {
            Some(part) if !part.is_bucket() => {
                let mut node = self.node(rows, part).await?;
                self.count_in(rows, &mut node, key, change, root.node.end_of(at)).await?;
                self.settle(rows, &mut root, at, node, change).await?;
            }
            _ => self.count_in(rows, &mut root.node, key, change, None).await?,
        }
        self.move_down(rows, &mut root).await?;
        if root.node.parts.is_empty() {
            rows.delete(&self.root_key());
            return Ok(());
        }
        rows.put(&self.root_key(), &root)
    }

    /// Counts a change in its bucket: removed if empty, joined with a neighbour if sparse, split if too large.
    async fn count_in(
        &self,
        rows: &mut impl Rows,
        node: &mut Node,
        key: RankKey,
        change: Change,
        end: Option<RankKey>,
    ) -> Result<(), StoreError> {
        let at = node.covering(key);
        let end = node.end_of(at).or(end);
        let Some(bucket) = node.parts.get_mut(at) else { return Ok(()) };
        bucket.count = match change {
            Change::Added => bucket.count + 1,
            Change::Removed => bucket.count.saturating_sub(1),
        };
        let most = self.shape.bucket;
        match bucket.count {
            0 => node.remove(at),
            count if count > most => {
                let bucket = *bucket;
                node.parts.splice(at..=at, self.halves(rows, bucket, end).await?);
            }
            count if count < most / 4 && change == Change::Removed => node.join_bucket(at, most / 4 * 3),
            _ => {}
        }
        Ok(())
    }

    /// Splits a bucket at a key of its members. The last bucket stays nearly full, since most members come at the end.
    async fn halves(&self, rows: &mut impl Rows, bucket: Part, end: Option<RankKey>) -> Result<Vec<Part>, StoreError> {
        let (first, last) = (self.member_key(bucket.first), self.member_key(end.map_or(RankKey::MAX, RankKey::before)));
        let keys = rows.sort_keys(&self.partition, first.sk, last.sk).await?;
        let keys: Vec<RankKey> = keys.iter().filter_map(|key| RankKey::from_text(key)).collect();
        let middle = if end.is_none() { bucket.count * 7 / 8 } else { bucket.count / 2 };
        let at = usize::try_from(middle).unwrap_or(usize::MAX);
        let before = at.checked_sub(1).and_then(|before| keys.get(before));
        let (Some(before), Some(first)) = (before, keys.get(at)) else { return Ok(vec![bucket]) };
        let next = Part::bucket(first.shortest_above(*before), bucket.count - middle);
        Ok(vec![Part::bucket(bucket.first, middle), next])
    }

    /// Puts a changed node back: deleted if empty, joined with a neighbour if sparse, split if too large.
    async fn settle(
        &self,
        rows: &mut impl Rows,
        root: &mut Root,
        at: usize,
        mut node: Node,
        change: Change,
    ) -> Result<(), StoreError> {
        let Some(part) = root.node.parts.get(at).copied() else { return Ok(()) };
        if node.parts.is_empty() {
            rows.delete(&self.node_key(part.node));
            root.node.remove(at);
            return Ok(());
        }
        let (mut replaced, mut id) = (at..at + 1, part.node);
        if change == Change::Removed
            && node.bytes() < self.shape.node_bytes / 4
            && let Some((pair, other)) = neighbour(&root.node, at)
        {
            let beside = self.node(rows, other).await?;
            let (first, second) = if pair.start == at { (&node, &beside) } else { (&beside, &node) };
            let joined = Node { parts: [first.parts.as_slice(), &second.parts].concat() };
            if joined.bytes() <= self.shape.node_bytes / 4 * 3 {
                let (kept, dropped) = if pair.start == at { (id, other.node) } else { (other.node, id) };
                rows.delete(&self.node_key(dropped));
                (node, id, replaced) = (joined, kept, pair);
            }
        }
        let parts = self.put_split(rows, node, id, &mut root.next_id)?;
        root.node.parts.splice(replaced, parts);
        Ok(())
    }

    /// Moves most of the root's buckets into nodes when there are too many.
    async fn move_down(&self, rows: &mut impl Rows, root: &mut Root) -> Result<(), StoreError> {
        let nodes = root.node.parts.iter().take_while(|part| !part.is_bucket()).count();
        let buckets = root.node.parts.len() - nodes;
        if buckets <= self.shape.in_root {
            return Ok(());
        }
        let moved = nodes..root.node.parts.len() - self.shape.kept_in_root();
        let buckets = root.node.parts.get(moved.clone()).unwrap_or_default().to_vec();
        let last = nodes.checked_sub(1).and_then(|last| Some((last, *root.node.parts.get(last)?)));
        let (mut node, mut replaced, mut id) = (Node { parts: buckets }, moved, None);
        if let Some((at, last)) = last {
            let before = self.node(rows, last).await?;
            let joined = Node { parts: [before.parts.as_slice(), &node.parts].concat() };
            if joined.bytes() <= self.shape.node_bytes {
                (node, replaced, id) = (joined, at..replaced.end, Some(last.node));
            }
        }
        let id = id.unwrap_or_else(|| new_id(&mut root.next_id));
        let parts = self.put_split(rows, node, id, &mut root.next_id)?;
        root.node.parts.splice(replaced, parts);
        Ok(())
    }

    fn put_split(&self, rows: &mut impl Rows, node: Node, id: u32, next_id: &mut u32) -> Result<Vec<Part>, StoreError> {
        let mut parts = Vec::new();
        for (index, node) in node.split(self.shape.node_bytes).into_iter().enumerate() {
            let id = if index == 0 { id } else { new_id(next_id) };
            parts.extend(node.as_part(id));
            rows.put(&self.node_key(id), &NodeRow { node })?;
        }
        Ok(parts)
    }

    async fn node(&self, rows: &mut impl Rows, part: Part) -> Result<Node, StoreError> {
        let row: Option<NodeRow> = rows.get(&self.node_key(part.node)).await?;
        let row = row.ok_or(StoreError::Missing("a node of a ranked set"))?;
        Ok(row.node.starting_at(part.first))
    }
}

fn neighbour(root: &Node, at: usize) -> Option<(Range<usize>, Part)> {
    let is_node = |at: usize| root.parts.get(at).copied().filter(|part| !part.is_bucket());
    let next = is_node(at + 1).map(|part| (at..at + 2, part));
    next.or_else(|| at.checked_sub(1).and_then(|before| Some((before..at + 1, is_node(before)?))))
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
    use crate::store::engine::{
        structures::ranked_set::set::Shape,
        table::{Item, row},
    };

    #[derive(Default)]
    struct Memory(HashMap<PrimaryKey, Item>);

    impl Rows for Memory {
        async fn get<R: DeserializeOwned + Send>(&mut self, key: &PrimaryKey) -> Result<Option<R>, StoreError> {
            Ok(self.0.get(key).cloned().map(serde_dynamo::from_item).transpose()?)
        }

        async fn sort_keys(&mut self, _: &str, first: String, last: String) -> Result<Vec<String>, StoreError> {
            let mut keys: Vec<String> = self.0.keys().map(|key| key.sk.clone()).collect();
            keys.retain(|key| (&first..=&last).contains(&key));
            keys.sort_unstable();
            Ok(keys)
        }

        fn put(&mut self, key: &PrimaryKey, fields: &(impl Serialize + Sync)) -> Result<(), StoreError> {
            self.0.insert(key.clone(), row(key, fields)?);
            Ok(())
        }

        fn add(&mut self, key: &PrimaryKey, fields: &(impl Serialize + Sync)) -> Result<(), StoreError> {
            assert!(!self.0.contains_key(key), "{key:?} is there");
            self.put(key, fields)
        }

        fn delete(&mut self, key: &PrimaryKey) {
            self.0.remove(key);
        }
    }

    #[derive(Serialize, Deserialize)]
    struct Value {}

    /// Applies changes; those of members that are there already, or aren't, are left out.
    async fn apply(
        set: &RankedSet,
        rows: &mut Memory,
        mut expected: BTreeSet<RankKey>,
        changes: &[(bool, RankKey)],
    ) -> BTreeSet<RankKey> {
        for &(added, key) in changes {
            if added && expected.insert(key) {
                set.add_member(rows, key, &Value {}).await.unwrap();
            } else if !added && expected.remove(&key) {
                set.remove_member(rows, key).await.unwrap();
            }
        }
        expected
    }

    /// Compares the counts of all buckets with the members in their ranges.
    async fn check(set: &RankedSet, rows: &mut Memory, expected: &BTreeSet<RankKey>) {
        let root: Option<Root> = rows.get(&set.root_key()).await.unwrap();
        let Some(Root { node: root, .. }) = root else {
            assert!(expected.is_empty() && rows.0.is_empty());
            return;
        };
        let (mut nodes, mut buckets) = (1, Vec::new());
        for part in &root.parts {
            if part.is_bucket() {
                buckets.push(*part);
                continue;
            }
            let node = set.node(rows, *part).await.unwrap();
            assert_eq!(node.as_part(part.node), Some(*part));
            assert!(node.bytes() <= set.shape.node_bytes && node.parts.iter().all(Part::is_bucket));
            nodes += 1;
            buckets.extend(node.parts);
        }
        assert!(root.parts.iter().skip_while(|part| !part.is_bucket()).all(Part::is_bucket));
        assert_eq!(buckets.first().map(|bucket| bucket.first), Some(RankKey::MIN));
        for (index, bucket) in buckets.iter().enumerate() {
            let end = buckets.get(index + 1).map_or(RankKey::MAX, |next| next.first.before());
            assert_eq!(bucket.count, expected.range(bucket.first..=end).count() as u64);
            assert!((1..=set.shape.bucket).contains(&bucket.count));
        }
        assert_eq!(root.count(), expected.len() as u64);
        assert_eq!(rows.0.len(), nodes + expected.len(), "unreferenced rows");
    }

    fn shape() -> impl Strategy<Value = Shape> {
        (4..12_u64, 2..12_usize, 80..400_usize).prop_map(|(bucket, in_root, node_bytes)| Shape {
            bucket,
            in_root,
            node_bytes,
            loaded: (bucket / 3 * 2, node_bytes / 3 * 2),
        })
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
            shape in shape(),
        ) {
            let set = RankedSet { partition: "SET".to_owned(), shape };
            run(async {
                let mut loader = set.loader();
                let mut items: Vec<_> = keys.iter().rev().map(|key| loader.member(*key, &Value {}).unwrap()).collect();
                items.extend(loader.finish().unwrap());
                let keyed = |item: Item| (serde_dynamo::from_item::<_, PrimaryKey>(item.clone()).unwrap(), item);
                let mut rows = Memory(items.into_iter().map(keyed).collect());
                check(&set, &mut rows, &keys).await;
                let mut left = keys.clone();
                for key in keys.iter().step_by(3) {
                    set.remove_member(&mut rows, *key).await.unwrap();
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
            shape in shape(),
        ) {
            let set = RankedSet { partition: "SET".to_owned(), shape };
            let changes: Vec<_> = changes.iter().map(|(added, index)| (*added, *index.get(&keys))).collect();
            run(async {
                let mut rows = Memory::default();
                let expected = apply(&set, &mut rows, BTreeSet::new(), &changes).await;
                check(&set, &mut rows, &expected).await;
                let removals: Vec<_> = expected.iter().map(|key| (false, *key)).collect();
                let nothing = apply(&set, &mut rows, expected, &removals).await;
                check(&set, &mut rows, &nothing).await;
            });
        }
    }

    #[test]
    fn members_that_come_in_order_fill_the_buckets() {
        run(async {
            let (set, mut rows) = (RankedSet::growing("SET"), Memory::default());
            let keys: Vec<_> = (0..40_000).map(|score| (true, RankKey { score, id: !score })).collect();
            let expected = apply(&set, &mut rows, BTreeSet::new(), &keys).await;
            check(&set, &mut rows, &expected).await;
            let root: Root = rows.get(&set.root_key()).await.unwrap().unwrap();
            let node = set.node(&mut rows, root.node.parts[0]).await.unwrap();
            let fullest = set.shape.bucket * 7 / 8;
            assert!(node.parts.iter().all(|bucket| bucket.count == fullest), "{node:?}");
            // One node and the root, and four bytes a bucket at most.
            assert_eq!(rows.0.len(), expected.len() + 2);
            assert!(node.bytes() <= node.parts.len() * 4, "{} of {}", node.bytes(), node.parts.len());
        });
    }
}
