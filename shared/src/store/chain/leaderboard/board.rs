use std::{collections::BTreeMap, fmt, str::FromStr};

use futures::future::try_join_all;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    aws::Dispatch,
    model::{Address, ArtistId, ChainId, Invalid, Page, Payment, Period, RankedBy, SortOrder, Spending},
    store::{
        chain::payments::PaymentFilter,
        chain::rows,
        engine::{
            structures::{
                numbered_list::NumberedList,
                ranked_set::{Direction, RankKey, RankedPage, RankedSet, RankedSets},
            },
            table::{ChainTable, PrimaryKey, StoreError, text},
        },
    },
};

const MAX_ADDED: u32 = 1_000;
/// In front of the chain of [`LeaderboardScope::On`].
const ON: &str = "eip155:";

/// Whose sales count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LeaderboardScope {
    /// All creators', on the chains whose money has a value.
    All,
    /// All creators' on this chain, where several are served.
    On(ChainId),
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
pub struct Leaderboards(RankedSets);

#[derive(Deserialize)]
struct ScopeRow {
    #[serde(rename = "sk")]
    scope: LeaderboardScope,
}

/// Spending by period; periods without any are absent.
pub(super) type Tally = BTreeMap<Period, Spending>;

impl Leaderboards {
    /// Uses the chain table.
    pub fn new(chain: ChainTable) -> Self {
        Self(RankedSets::new(chain))
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
        self.0.page(&ranking.set(), direction, page.offset(), page.limit.get()).await
    }

    /// The same with the sums over several scopes; `None` where too many collectors would have to be added up. One read a
    /// scope; where several have collectors, one more for each of them.
    pub async fn page_of(
        &self,
        scopes: &[LeaderboardScope],
        period: Period,
        by: RankedBy,
        order: SortOrder,
        page: Page,
    ) -> Result<Option<RankedPage<RankedCollector>>, StoreError> {
        let board = |scope: &LeaderboardScope| Leaderboard { scope: *scope, period, by };
        if let [only] = scopes {
            return self.page(board(only), order, page).await.map(Some);
        }
        let counts = try_join_all(scopes.iter().map(|scope| async { self.0.count(&board(scope).set()).await })).await?;
        let filled: Vec<_> =
            scopes.iter().zip(&counts).filter(|(_, count)| **count > 0).map(|(it, _)| board(it)).collect();
        match filled.as_slice() {
            [] => Ok(Some(RankedPage { rows: Vec::new(), total: 0 })),
            [only] => self.page(*only, order, page).await.map(Some),
            _ if counts.iter().any(|count| *count > MAX_ADDED.into()) => Ok(None),
            several => self.sums(several, order, page).await.map(Some),
        }
    }

    async fn sums(
        &self,
        boards: &[Leaderboard],
        order: SortOrder,
        page: Page,
    ) -> Result<RankedPage<RankedCollector>, StoreError> {
        let pages =
            boards.iter().map(async |board| self.0.page(&board.set(), Direction::Ascending, 0, MAX_ADDED).await);
        let mut sums: BTreeMap<ArtistId, RankedCollector> = BTreeMap::new();
        for collector in try_join_all(pages).await?.into_iter().flat_map(|page: RankedPage<RankedCollector>| page.rows)
        {
            let new = RankedCollector { spending: Spending::default(), ..collector.clone() };
            let sum = sums.entry(collector.artist_id).or_insert(new);
            sum.spending = sum.spending.plus(collector.spending);
        }
        let total = sums.len() as u64;
        let mut rows: Vec<RankedCollector> = sums.into_values().collect();
        if let Some(board) = boards.first() {
            rows.sort_by_key(|row| board.place(row.artist_id, row.spending));
        }
        if order == SortOrder::Ascending {
            rows.reverse();
        }
        let skipped = usize::try_from(page.offset()).unwrap_or(usize::MAX);
        Ok(RankedPage { rows: rows.into_iter().skip(skipped).take(page.rows()).collect(), total })
    }

    /// Returns up to `limit` payments of a chain, oldest first, from number `first` on. One Query.
    pub async fn payments(&self, chain: ChainId, first: u64, limit: usize) -> Result<Vec<Payment>, StoreError> {
        let list = NumberedList { table: &self.0.table, partition: PaymentFilter::default().partition(chain) };
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
        let call = self
            .0
            .table
            .query()
            .key_condition_expression("pk = :wallet AND sk > :after")
            .expression_attribute_values(":wallet", text(rows::spending_of_wallet(wallet)))
            .expression_attribute_values(":after", text(after))
            .limit(limit.into());
        let rows: Vec<ScopeRow> = serde_dynamo::from_items(call.dispatch().await?.items.unwrap_or_default())?;
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
        RankedSet::moving(rows::ranking(&scope.to_string(), period, by))
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
            Self::On(chain) => write!(formatter, "{ON}{chain}"),
            Self::CreatedBy(creator) => creator.fmt(formatter),
        }
    }
}

impl FromStr for LeaderboardScope {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.strip_prefix(ON) {
            Some(chain) => chain.parse().map(Self::On),
            None if text == "ALL" => Ok(Self::All),
            None => text.parse().map(Self::CreatedBy),
        }
    }
}

impl<'de> Deserialize<'de> for LeaderboardScope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

pub(super) fn collector_key(collector: ArtistId, scope: LeaderboardScope) -> PrimaryKey {
    rows::spending_of_collector(collector, &scope.to_string())
}

pub(super) fn spending_key(wallet: Address, scope: LeaderboardScope) -> PrimaryKey {
    rows::spending(wallet, &scope.to_string())
}

pub(super) fn cursor_key(chain: ChainId) -> PrimaryKey {
    rows::ranking_cursor(chain)
}
