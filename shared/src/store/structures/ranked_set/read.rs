use serde::de::DeserializeOwned;

use super::{rank_key::RankKey, set::RankedSet, tree::ReadRows};
use crate::store::table::{PrimaryKey, StoreError, Table, text};

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

impl ReadRows for &Table {
    async fn get<R: DeserializeOwned + Send>(&mut self, key: &PrimaryKey) -> Result<Option<R>, StoreError> {
        Table::get(self, key).await
    }
}

impl RankedSet {
    /// Returns members with keys from `since` on, after skipping `offset`. Two reads; two more for each of the two.
    pub async fn page<R: DeserializeOwned>(
        &self,
        table: &Table,
        since: RankKey,
        direction: Direction,
        offset: u64,
        limit: u32,
    ) -> Result<RankedPage<R>, StoreError> {
        const ATTEMPTS: usize = 3;
        for _ in 0..ATTEMPTS {
            let mut nodes = table;
            let Some(root) = self.root(&mut nodes).await? else {
                return Ok(RankedPage { rows: Vec::new(), total: 0 });
            };
            let Some(below) = self.count_below(&mut nodes, &root, since).await? else { continue };
            let total = root.count().saturating_sub(below);
            if offset >= total {
                return Ok(RankedPage { rows: Vec::new(), total });
            }
            let first = match (direction, offset) {
                (Direction::Ascending, 0) => Some(since),
                (Direction::Descending, 0) => Some(RankKey::MAX),
                (Direction::Ascending, _) => self.key_at(&mut nodes, &root, below + offset).await?,
                (Direction::Descending, _) => self.key_at(&mut nodes, &root, below + total - 1 - offset).await?,
            };
            // A missing node was removed after its parent was read.
            let Some(first) = first else { continue };
            let rows = self.range(table, first, since, direction, limit).await?;
            return Ok(RankedPage { rows, total });
        }
        Err(StoreError::Contention("a ranked set"))
    }

    /// Returns the number of members. One read.
    pub async fn count(&self, table: &Table) -> Result<u64, StoreError> {
        Ok(self.root(&mut &*table).await?.map_or(0, |root| root.count()))
    }

    async fn range<R: DeserializeOwned>(
        &self,
        table: &Table,
        first: RankKey,
        since: RankKey,
        direction: Direction,
        limit: u32,
    ) -> Result<Vec<R>, StoreError> {
        let (least, greatest) = match direction {
            Direction::Ascending => (first, RankKey::MAX),
            Direction::Descending => (since, first),
        };
        if least > greatest {
            return Ok(Vec::new());
        }
        let call = table
            .client
            .query()
            .table_name(&table.name)
            .key_condition_expression("pk = :set AND sk BETWEEN :least AND :greatest")
            .expression_attribute_values(":set", text(&self.partition))
            .expression_attribute_values(":least", text(self.member_key(least).sk))
            .expression_attribute_values(":greatest", text(self.member_key(greatest).sk))
            .scan_index_forward(direction == Direction::Ascending)
            .limit(i32::try_from(limit).unwrap_or(i32::MAX));
        Ok(serde_dynamo::from_items(call.send().await?.items.unwrap_or_default())?)
    }
}
