use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    model::{Address, ArtistId, ChainId, Invalid, Page, Payment, Period, RankedBy, SortOrder, Spending},
    store::{
        payments::PaymentFilter,
        structures::{
            numbered_list::NumberedList,
            ranked_set::{Direction, RankKey, RankedPage, RankedSet},
        },
        table::{PrimaryKey, StoreError, Table, text},
    },
};

/// Whose sales count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LeaderboardScope {
    /// All creators'.
    All,
    /// Sales from collections that this account created.
    CreatedBy(Address),
}

/// One ranking of collectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaderboard {
    /// Whose sales count.
    pub scope: LeaderboardScope,
    /// Time window.
    pub period: Period,
    /// Ranked amount.
    pub by: RankedBy,
}

/// A ranked collector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankedCollector {
    /// Artist id; derived from the wallet if it has no artist.
    pub artist_id: ArtistId,
    /// One of the collector's wallets, or the only one if there is no artist.
    pub wallet: Address,
    /// Spending within scope and period.
    #[serde(flatten)]
    pub spending: Spending,
}

/// All leaderboards.
#[derive(Clone)]
pub struct Leaderboards(Table);

#[derive(Deserialize)]
struct ScopeRow {
    #[serde(rename = "sk")]
    scope: LeaderboardScope,
}

/// Spending by period; periods without any are absent.
pub(super) type Tally = BTreeMap<Period, Spending>;

impl Leaderboards {
    /// Uses the chain table.
    pub fn new(chain: Table) -> Self {
        Self(chain)
    }

    /// Returns a page. Two reads for the first page, at most three for others.
    pub async fn page(
        &self,
        ranking: Leaderboard,
        order: SortOrder,
        page: Page,
    ) -> Result<RankedPage<RankedCollector>, StoreError> {
        // The set begins with the highest.
        let direction = match order {
            SortOrder::Descending => Direction::Ascending,
            SortOrder::Ascending => Direction::Descending,
        };
        ranking.set().page(&self.0, direction, page.offset(), page.limit.get()).await
    }

    /// Returns up to `limit` payments of a chain, oldest first, from number `first` on. One Query.
    pub async fn payments(&self, chain: ChainId, first: u64, limit: usize) -> Result<Vec<Payment>, StoreError> {
        let list = NumberedList { table: &self.0, partition: PaymentFilter::default().partition(chain) };
        Ok(list.oldest_first(first, limit).await?.rows)
    }

    /// Returns up to `limit` scopes in which a wallet has spent, after `after`. One Query.
    pub async fn scopes_of(
        &self,
        wallet: Address,
        after: Option<LeaderboardScope>,
        limit: u16,
    ) -> Result<Vec<LeaderboardScope>, StoreError> {
        // A space sorts before every scope.
        let after = after.map_or_else(|| " ".to_owned(), |scope| scope.to_string());
        let key = spending_key(wallet, LeaderboardScope::All);
        let call = self
            .0
            .query()
            .key_condition_expression("pk = :wallet AND sk > :after")
            .expression_attribute_values(":wallet", text(key.pk))
            .expression_attribute_values(":after", text(after))
            .limit(limit.into());
        let rows: Vec<ScopeRow> = serde_dynamo::from_items(call.send().await?.items.unwrap_or_default())?;
        Ok(rows.into_iter().map(|row| row.scope).collect())
    }
}

impl Leaderboard {
    pub(super) fn every(scope: LeaderboardScope, period: Period) -> impl Iterator<Item = Self> {
        RankedBy::EVERY.into_iter().map(move |by| Self { scope, period, by })
    }

    /// Returns the ranked set that holds it, for both directions.
    pub fn set(self) -> RankedSet {
        let Self { scope, period, by } = self;
        RankedSet::moving(format!("RANKING#{scope}#{period}#{by}"))
    }

    /// Returns the sort key: the highest first, ties by ascending id.
    pub fn place(self, collector: ArtistId, spending: Spending) -> RankKey {
        RankKey { score: u128::MAX - spending.score(self.by), id: collector.as_u128() }
    }
}

impl fmt::Display for LeaderboardScope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => formatter.write_str("ALL"),
            Self::CreatedBy(creator) => creator.fmt(formatter),
        }
    }
}

impl FromStr for LeaderboardScope {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text == "ALL" { Ok(Self::All) } else { text.parse().map(Self::CreatedBy) }
    }
}

impl<'de> Deserialize<'de> for LeaderboardScope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

pub(super) fn collector_key(collector: ArtistId, scope: LeaderboardScope) -> PrimaryKey {
    PrimaryKey::new(format!("COLLECTOR#{collector}"), scope.to_string())
}

pub(super) fn spending_key(wallet: Address, scope: LeaderboardScope) -> PrimaryKey {
    PrimaryKey::new(format!("SPENDING#{wallet}"), scope.to_string())
}

pub(super) fn cursor_key(chain: ChainId) -> PrimaryKey {
    PrimaryKey::new(format!("RANKINGS#{chain}"), "CURSOR")
}
