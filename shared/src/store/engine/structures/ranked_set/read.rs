use aws_sdk_dynamodb::{operation::query::builders::QueryFluentBuilder, types::Select};
use serde::de::DeserializeOwned;

use super::{
    locate::{Bucket, RankedSets, Tree},
    node::Target,
    place::{Direction, Place},
    rank_key::RankKey,
    set::RankedSet,
};
use crate::{
    aws::Dispatch,
    store::engine::table::{StoreError, text},
};

/// Attempts at rows that fit together; the last one is consistent.
const ATTEMPTS: usize = 3;

/// A page of members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedPage<R> {
    /// Values of the members, in the order of reading.
    pub rows: Vec<R>,
    /// Number of members that match.
    pub total: u64,
}

struct Range {
    least: RankKey,
    greatest: RankKey,
    direction: Direction,
    skip: u64,
    is_turned: bool,
}

impl RankedSets {
    /// Returns members after skipping `offset`. Two reads, in parallel for the first page and one after the other for
    /// others; one more for members of a node that isn't read with the root. Reads at most half a bucket too much.
    pub async fn page<R: DeserializeOwned>(
        &self,
        set: &RankedSet,
        direction: Direction,
        offset: u64,
        limit: u32,
    ) -> Result<RankedPage<R>, StoreError> {
        self.page_from(set, Place { since: RankKey::MIN, direction, offset }, limit).await
    }

    /// Returns members with keys from `since` on, greatest first. One parallel read more than [`Self::page`].
    pub async fn greatest<R: DeserializeOwned>(
        &self,
        set: &RankedSet,
        since: RankKey,
        offset: u64,
        limit: u32,
    ) -> Result<RankedPage<R>, StoreError> {
        self.page_from(set, Place { since, direction: Direction::Descending, offset }, limit).await
    }

    /// Returns members with keys below `end` and from `since` on, greatest first: these stay the same while greater ones are
    /// added. Two reads in parallel; two more with `since`.
    pub async fn greatest_below<R: DeserializeOwned>(
        &self,
        set: &RankedSet,
        since: RankKey,
        end: RankKey,
        limit: u32,
    ) -> Result<RankedPage<R>, StoreError> {
        let (direction, greatest) = (Direction::Descending, end.before());
        for attempt in 1..=ATTEMPTS {
            let reader = if attempt == ATTEMPTS { &self.consistent() } else { self };
            let range = Range { least: since, greatest, direction, skip: 0, is_turned: false };
            let tree = reader.tree(set, Place { since, direction, offset: 0 });
            let (tree, rows) = tokio::try_join!(tree, reader.members(set, range, limit))?;
            if let Some(total) = reader.count_since(set, &tree, since).await? {
                return Ok(RankedPage { rows, total });
            }
        }
        Err(StoreError::Contention("a ranked set"))
    }

    async fn page_from<R: DeserializeOwned>(
        &self,
        set: &RankedSet,
        place: Place,
        limit: u32,
    ) -> Result<RankedPage<R>, StoreError> {
        let Place { since, direction, offset } = place;
        if offset == 0 {
            let range = Range { least: since, greatest: RankKey::MAX, direction, skip: 0, is_turned: false };
            let (tree, rows) = tokio::try_join!(self.tree(set, place), self.members(set, range, limit))?;
            if let Some(total) = self.count_since(set, &tree, since).await? {
                return Ok(RankedPage { rows, total });
            }
        }
        for attempt in 1..=ATTEMPTS {
            // A tree whose rows don't fit together was changed between two reads.
            let reader = if attempt == ATTEMPTS { &self.consistent() } else { self };
            let tree = reader.tree(set, place).await?;
            let Some(index) = place.index(&tree.root) else {
                let total = reader.count_since(set, &tree, since).await?.unwrap_or_default();
                return Ok(RankedPage { rows: Vec::new(), total });
            };
            let Some(bucket) = reader.bucket(set, &tree, Target::Index(index)).await? else { continue };
            let range = bucket.range(index, since, direction, limit.into());
            let (rows, total) =
                tokio::try_join!(reader.members(set, range, limit), reader.count_since(set, &tree, since))?;
            let Some(total) = total else { continue };
            return Ok(RankedPage { rows, total });
        }
        Err(StoreError::Contention("a ranked set"))
    }

    /// At most two reads; none without `since`.
    async fn count_since(&self, set: &RankedSet, tree: &Tree, since: RankKey) -> Result<Option<u64>, StoreError> {
        let all = tree.root.count();
        if since == RankKey::MIN || all == 0 {
            return Ok(Some(all));
        }
        let Some(bucket) = self.bucket(set, tree, Target::Key(since)).await? else { return Ok(None) };
        let below = if bucket.first < since { self.count_between(set, bucket.first, since.before()).await? } else { 0 };
        Ok(Some(all.saturating_sub(bucket.before + below)))
    }

    async fn count_between(&self, set: &RankedSet, least: RankKey, greatest: RankKey) -> Result<u64, StoreError> {
        let call = self.query(set, least, greatest).select(Select::Count);
        Ok(u64::try_from(call.dispatch().await?.count).unwrap_or_default())
    }

    async fn members<R: DeserializeOwned>(
        &self,
        set: &RankedSet,
        range: Range,
        limit: u32,
    ) -> Result<Vec<R>, StoreError> {
        let Range { least, greatest, direction, skip, is_turned } = range;
        if least > greatest {
            return Ok(Vec::new());
        }
        let call = self.query(set, least, greatest).scan_index_forward(direction == Direction::Ascending);
        let wanted = skip.saturating_add(limit.into());
        let answer = call.limit(i32::try_from(wanted).unwrap_or(i32::MAX)).dispatch().await?;
        let mut rows = answer.items.unwrap_or_default();
        rows.drain(..rows.len().min(usize::try_from(skip).unwrap_or(usize::MAX)));
        if is_turned {
            rows.reverse();
        }
        Ok(serde_dynamo::from_items(rows)?)
    }

    fn query(&self, set: &RankedSet, least: RankKey, greatest: RankKey) -> QueryFluentBuilder {
        self.table
            .query()
            .key_condition_expression("pk = :set AND sk BETWEEN :least AND :greatest")
            .expression_attribute_values(":set", text(&set.partition))
            .expression_attribute_values(":least", text(set.member_key(least).sk))
            .expression_attribute_values(":greatest", text(set.member_key(greatest).sk))
    }
}

impl Bucket {
    /// The page that begins with the member at `index`, from the nearer end of the bucket.
    fn range(&self, index: u64, since: RankKey, direction: Direction, limit: u64) -> Range {
        let index = index.saturating_sub(self.before);
        let is_ascending = direction == Direction::Ascending;
        let skip = if is_ascending { index } else { self.count.saturating_sub(index + 1) };
        let last = self.end.map_or(RankKey::MAX, RankKey::before);
        let left = self.count.saturating_sub(skip);
        // A page that goes on in the next bucket, or ends at `since`, has one end only.
        if (limit..limit + skip).contains(&left) && since <= self.first {
            let direction = if is_ascending { Direction::Descending } else { Direction::Ascending };
            return Range { least: self.first, greatest: last, direction, skip: left - limit, is_turned: true };
        }
        let (least, greatest) = if is_ascending { (self.first, RankKey::MAX) } else { (since, last) };
        Range { least, greatest, direction, skip, is_turned: false }
    }
}
