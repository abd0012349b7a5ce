//! Who collected how much, in the table of what the chain can rebuild.
//!
//! - `pk = RANKING#<scope>#<period>#<field>#<order>`: collectors in one order, a ranked set that is read from its
//!   beginning; the scope is `ALL` or the address of the creator whose moments were collected;
//! - `pk = COLLECTOR#<artist id>`, `sk = <scope>`: what a collector has spent there, in each period;
//! - `pk = SPENDING#<wallet>`, `sk = <scope>`: the same of one wallet, and for which collector it counts;
//! - `pk = RANKINGS#<chain>`, `sk = CURSOR`: which of the chain's payments are counted.
//!
//! The rows have one writer of their own, apart from the indexer: it counts payments in final blocks alone, so that
//! nothing needs to be undone.

mod count;

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize};

pub use self::count::{PaymentCursor, SpendingChange};
use super::{
    Direction, Key, RankKey, RankedPage, RankedSet, StoreError, Table, numbered::NumberedList, payments::PaymentFilter,
    text,
};
use crate::model::{Address, ArtistId, ChainId, Invalid, Page, Payment, Period, RankedBy, SortOrder, Spending};

/// Whose moments were collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RankingScope {
    /// Everybody's.
    All,
    /// Those in collections that this account created.
    CreatedBy(Address),
}

/// One list of collectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranking {
    /// Whose moments were collected.
    pub scope: RankingScope,
    /// How far back it looks.
    pub period: Period,
    /// What it is ordered by.
    pub by: RankedBy,
    /// What comes first.
    pub order: SortOrder,
}

/// A collector in a ranking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankedCollector {
    /// Who it is; made from the wallet for one that is no artist's.
    pub artist_id: ArtistId,
    /// A wallet of theirs, and the only one where there is no artist.
    pub wallet: Address,
    /// What they collected in the ranking's scope and period.
    #[serde(flatten)]
    pub spending: Spending,
}

/// All rankings.
#[derive(Clone)]
pub struct Rankings(Table);

#[derive(Deserialize)]
struct ScopeRow {
    #[serde(rename = "sk")]
    scope: RankingScope,
}

/// What was spent in each period; nothing where there is no entry.
type Tally = BTreeMap<Period, Spending>;

impl Rankings {
    /// The rankings in the chain's table.
    pub fn new(chain: Table) -> Self {
        Self(chain)
    }

    /// A page of a ranking. Two reads for the first page, four for any other.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn page(&self, ranking: Ranking, page: Page) -> Result<RankedPage<RankedCollector>, StoreError> {
        let (set, limit) = (ranking.set(), page.limit.get());
        set.page(&self.0, RankKey::MIN, Direction::Ascending, page.offset(), limit).await
    }

    /// A chain's payments from number `first` on, `limit` at most, in the order of the chain. One Query.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn payments(&self, chain: ChainId, first: u64, limit: usize) -> Result<Vec<Payment>, StoreError> {
        let list = NumberedList { table: &self.0, partition: PaymentFilter::default().partition(chain) };
        Ok(list.oldest_first(first, limit).await?.rows)
    }

    /// The scopes in which a wallet has spent something, `limit` at most, those after `after` alone. One Query.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn scopes_of(
        &self,
        wallet: Address,
        after: Option<RankingScope>,
        limit: u16,
    ) -> Result<Vec<RankingScope>, StoreError> {
        // A space sorts before every scope.
        let after = after.map_or_else(|| " ".to_owned(), |scope| scope.to_string());
        let key = spending_key(wallet, RankingScope::All);
        let call = self
            .0
            .client
            .query()
            .table_name(&self.0.name)
            .key_condition_expression("pk = :wallet AND sk > :after")
            .expression_attribute_values(":wallet", text(key.pk))
            .expression_attribute_values(":after", text(after))
            .limit(limit.into());
        let rows: Vec<ScopeRow> = serde_dynamo::from_items(call.send().await?.items.unwrap_or_default())?;
        Ok(rows.into_iter().map(|row| row.scope).collect())
    }
}

impl Ranking {
    /// Every list of one scope and period.
    fn every(scope: RankingScope, period: Period) -> impl Iterator<Item = Self> {
        let orders = move |by| SortOrder::BOTH.map(|order| Self { scope, period, by, order });
        RankedBy::EVERY.into_iter().flat_map(orders)
    }

    /// The set that holds it.
    pub fn set(self) -> RankedSet {
        let Self { scope, period, by, order } = self;
        RankedSet::new(format!("RANKING#{scope}#{period}#{by}#{order}"))
    }

    /// Where a collector stands who has spent this much: equals in the order of their ids, whichever order it is.
    pub fn place(self, collector: ArtistId, spending: Spending) -> RankKey {
        let score = spending.score(self.by);
        let score = match self.order {
            SortOrder::Ascending => score,
            SortOrder::Descending => u128::MAX - score,
        };
        RankKey { score, id: collector.as_u128() }
    }
}

impl fmt::Display for RankingScope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => formatter.write_str("ALL"),
            Self::CreatedBy(creator) => creator.fmt(formatter),
        }
    }
}

impl FromStr for RankingScope {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text == "ALL" { Ok(Self::All) } else { text.parse().map(Self::CreatedBy) }
    }
}

impl<'de> Deserialize<'de> for RankingScope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

fn collector_key(collector: ArtistId, scope: RankingScope) -> Key {
    Key::new(format!("COLLECTOR#{collector}"), scope.to_string())
}

fn spending_key(wallet: Address, scope: RankingScope) -> Key {
    Key::new(format!("SPENDING#{wallet}"), scope.to_string())
}

fn cursor_key(chain: ChainId) -> Key {
    Key::new(format!("RANKINGS#{chain}"), "CURSOR")
}
