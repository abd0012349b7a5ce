use serde::{Deserialize, de::DeserializeOwned};

use super::{rank_key::RankKey, read::RankedPage, set::RankedSet};
use crate::store::table::{StoreError, Table};

/// A member with its key, whose text sorts as the key does.
#[derive(Deserialize)]
struct Keyed<R> {
    sk: String,
    #[serde(flatten)]
    row: R,
}

impl RankedSet {
    /// Members of this and another set as of one, with keys from `since` on, greatest first. A page of each; for later
    /// pages, one member of each for each doubling of the smaller part that comes before.
    pub async fn greatest_with<R: DeserializeOwned>(
        &self,
        other: &Self,
        table: &Table,
        since: RankKey,
        offset: u64,
        limit: u32,
    ) -> Result<RankedPage<R>, StoreError> {
        let from = |set: &Self, offset: u64, limit: u32| {
            let (set, table) = (set.clone(), table.clone());
            async move { set.greatest::<Keyed<R>>(&table, since, offset, limit).await }
        };
        let (mut own, mut others) = tokio::try_join!(from(self, 0, limit), from(other, 0, limit))?;
        let (mut least, mut most) = (offset.saturating_sub(own.total), offset.min(others.total));
        while least < most {
            let middle = least.midpoint(most);
            let (left, right) = tokio::try_join!(from(self, offset - middle - 1, 1), from(other, middle, 1))?;
            match (left.rows.first(), right.rows.first()) {
                (Some(left), Some(right)) if left.sk > right.sk => most = middle,
                (Some(_), None) => most = middle,
                _ => least = middle + 1,
            }
        }
        if offset > 0 {
            (own, others) = tokio::try_join!(from(self, offset - least, limit), from(other, least, limit))?;
        }
        let mut rows: Vec<_> = own.rows.into_iter().chain(others.rows).collect();
        rows.sort_by(|one, two| two.sk.cmp(&one.sk));
        // One that moves from set to set may be read in both.
        rows.dedup_by(|one, two| one.sk == two.sk);
        rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(RankedPage { rows: rows.into_iter().map(|member| member.row).collect(), total: own.total + others.total })
    }
}
