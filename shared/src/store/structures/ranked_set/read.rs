use aws_sdk_dynamodb::{operation::query::builders::QueryFluentBuilder, types::Select};
use serde::de::DeserializeOwned;

use super::{
    locate::{Bucket, Tree},
    node::Target,
    rank_key::RankKey,
    set::RankedSet,
};
use crate::store::table::{StoreError, Table, text};

/// Order of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Least key first.
    Ascending,
    /// Greatest key first.
    Descending,
}

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

impl RankedSet {
    /// Returns members after skipping `offset`. Two reads, in parallel for the first page and one after the other for
    /// others; one more for members of a node that isn't read with the root. Reads at most half a bucket too much.
    pub async fn page<R: DeserializeOwned>(
        &self,
        table: &Table,
        direction: Direction,
        offset: u64,
        limit: u32,
    ) -> Result<RankedPage<R>, StoreError> {
        self.page_since(table, RankKey::MIN, direction, offset, limit).await
    }

    /// Returns members with keys from `since` on, greatest first. One parallel read more than [`Self::page`].
    pub async fn greatest<R: DeserializeOwned>(
        &self,
        table: &Table,
        since: RankKey,
        offset: u64,
        limit: u32,
    ) -> Result<RankedPage<R>, StoreError> {
        self.page_since(table, since, Direction::Descending, offset, limit).await
    }

    /// `since` is for reading downwards only.
    async fn page_since<R: DeserializeOwned>(
        &self,
        table: &Table,
        since: RankKey,
        direction: Direction,
        offset: u64,
        limit: u32,
    ) -> Result<RankedPage<R>, StoreError> {
        const ATTEMPTS: usize = 3;
        let range = Range { least: since, greatest: RankKey::MAX, direction, skip: 0, is_turned: false };
        if offset == 0 {
            let tree = async {
                if since == RankKey::MIN { self.root(table).await } else { self.root_and_first_node(table).await }
            };
            let (tree, rows) = tokio::try_join!(tree, self.members(table, range, limit))?;
            if let Some(total) = self.count_since(table, &tree, since).await? {
                return Ok(RankedPage { rows, total });
            }
        }
        for attempt in 1..=ATTEMPTS {
            let strong = table.clone().consistent();
            // A tree whose rows don't fit together was changed between two reads.
            let table = if attempt == ATTEMPTS { &strong } else { table };
            let is_recent = direction == Direction::Descending && offset < self.shape.recent;
            let tree = if is_recent { self.root(table).await? } else { self.root_and_first_node(table).await? };
            let all = tree.root.count();
            if offset >= all {
                let total = self.count_since(table, &tree, since).await?.unwrap_or_default();
                return Ok(RankedPage { rows: Vec::new(), total });
            }
            let index = if direction == Direction::Ascending { offset } else { all - 1 - offset };
            let Some(bucket) = self.bucket(table, &tree, Target::Index(index)).await? else { continue };
            let range = bucket.range(index, since, direction, limit.into());
            let (rows, total) =
                tokio::try_join!(self.members(table, range, limit), self.count_since(table, &tree, since))?;
            let Some(total) = total else { continue };
            return Ok(RankedPage { rows, total });
        }
        Err(StoreError::Contention("a ranked set"))
    }

    /// Returns the number of members. One read.
    pub async fn count(&self, table: &Table) -> Result<u64, StoreError> {
        Ok(self.root(table).await?.root.count())
    }

    /// At most two reads; none without `since`.
    async fn count_since(&self, table: &Table, tree: &Tree, since: RankKey) -> Result<Option<u64>, StoreError> {
        let all = tree.root.count();
        if since == RankKey::MIN || all == 0 {
            return Ok(Some(all));
        }
        let Some(bucket) = self.bucket(table, tree, Target::Key(since)).await? else { return Ok(None) };
        let below =
            if bucket.first < since { self.count_between(table, bucket.first, since.before()).await? } else { 0 };
        Ok(Some(all.saturating_sub(bucket.before + below)))
    }

    async fn count_between(&self, table: &Table, least: RankKey, greatest: RankKey) -> Result<u64, StoreError> {
        let call = self.query(table, least, greatest).select(Select::Count);
        Ok(u64::try_from(call.send().await?.count).unwrap_or_default())
    }

    async fn members<R: DeserializeOwned>(
        &self,
        table: &Table,
        range: Range,
        limit: u32,
    ) -> Result<Vec<R>, StoreError> {
        let Range { least, greatest, direction, skip, is_turned } = range;
        if least > greatest {
            return Ok(Vec::new());
        }
        let call = self.query(table, least, greatest).scan_index_forward(direction == Direction::Ascending);
        let wanted = skip.saturating_add(limit.into());
        let answer = call.limit(i32::try_from(wanted).unwrap_or(i32::MAX)).send().await?;
        let mut rows = answer.items.unwrap_or_default();
        rows.drain(..rows.len().min(usize::try_from(skip).unwrap_or(usize::MAX)));
        if is_turned {
            rows.reverse();
        }
        Ok(serde_dynamo::from_items(rows)?)
    }

    fn query(&self, table: &Table, least: RankKey, greatest: RankKey) -> QueryFluentBuilder {
        table
            .query()
            .key_condition_expression("pk = :set AND sk BETWEEN :least AND :greatest")
            .expression_attribute_values(":set", text(&self.partition))
            .expression_attribute_values(":least", text(self.member_key(least).sk))
            .expression_attribute_values(":greatest", text(self.member_key(greatest).sk))
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
