//! Adds names and metadata to the rows of a page, in one lookup for the whole page.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use utoipa::ToSchema;

use super::site::Site;
use crate::{
    chain::Chains,
    config::ConfigError,
    http::AllowedChains,
    model::{Address, ArtistName, ChainId, Invalid, Page},
    store::{
        StoreError,
        across::{LookupKeys, LookupRows, PageLookups},
        artist::{ArtistTable, Artists},
        chain::{ChainTable, Documents, Timelines},
    },
};

/// Why rows can't be shown.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A time can't be formatted.
    #[error("time of a row")]
    Time(#[from] time::Error),
    /// A row can't be written as JSON.
    #[error("JSON of a row")]
    Json(#[from] serde_json::Error),
}

/// Turns rows into views.
#[derive(Clone)]
pub struct Reader {
    pub(super) chains: Chains,
    pub(super) related: PageLookups,
    pub(super) site: Site,
    pub(super) artists: Artists,
    pub(super) timelines: Timelines,
}

/// An account with its artist's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Person {
    /// The account.
    pub address: Address,
    /// Empty without a name.
    pub username: String,
}

/// A page's place in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Pagination {
    /// Page number, from 1.
    page: u32,
    /// Rows per page.
    limit: u32,
    /// Number of rows; null where they aren't counted.
    #[schema(required = true)]
    total_count: Option<u64>,
    /// Number of pages; 0 for an empty list.
    total_pages: u64,
}

impl Reader {
    /// Reads `CHAINS` and the variables of [`Site`]. Rows are read eventually consistent.
    pub fn from_env(chain: ChainTable, artists: ArtistTable) -> Result<Self, ConfigError> {
        let (chain, artists) = (chain.eventually_consistent(), artists.eventually_consistent());
        Ok(Self {
            chains: Chains::from_env()?,
            site: Site::from_env(),
            related: PageLookups::new(chain.clone(), artists.clone()),
            artists: Artists::new(artists),
            timelines: Timelines::new(chain),
        })
    }

    /// The named chain, or all of them.
    pub fn chains(&self, named: Option<ChainId>) -> Vec<ChainId> {
        named.map_or_else(|| self.chains.iter().map(|chain| chain.id).collect(), |chain| vec![chain])
    }

    /// The named chain, or those of a list: all in somebody's, test networks in one of everyone's only where there are no
    /// others.
    pub fn listed_chains(&self, named: Option<ChainId>, is_somebodys: bool) -> Vec<ChainId> {
        if is_somebodys { self.chains(named) } else { self.chains.of_everyone(named) }
    }

    /// Every wallet of an artist. Two reads.
    pub async fn accounts(&self, artist: &ArtistName) -> Result<Vec<Address>, StoreError> {
        self.artists.accounts(artist).await
    }

    /// Creator of a collection, if there is one. One read.
    pub async fn creator(&self, chain: ChainId, collection: Address) -> Result<Option<Address>, StoreError> {
        let keys = LookupKeys { collections: BTreeSet::from([collection]), ..LookupKeys::default() };
        Ok(self.related.read(chain, keys).await?.collections.get(&collection).map(|collection| collection.creator))
    }

    /// Every account of an artist on these chains; `None` for an account where no artist is named. Two reads.
    pub async fn accounts_on(
        &self,
        chains: &[ChainId],
        artist: Option<&ArtistName>,
    ) -> Result<Vec<(ChainId, Option<Address>)>, StoreError> {
        let accounts: Vec<Option<Address>> = match artist {
            None => vec![None],
            Some(artist) => self.artists.accounts(artist).await?.into_iter().map(Some).collect(),
        };
        Ok(chains.iter().flat_map(|chain| accounts.iter().map(|account| (*chain, *account))).collect())
    }

    /// Documents of URIs that weren't among those read. No read if there are none.
    pub(super) async fn other_documents<'a>(
        &self,
        chain: ChainId,
        uris: impl Iterator<Item = &'a str>,
        read: &BTreeSet<String>,
    ) -> Result<LookupRows, StoreError> {
        let documents = uris.map(Documents::uri_hash).filter(|hash| !read.contains(hash)).collect();
        self.related.read(chain, LookupKeys { documents, ..LookupKeys::default() }).await
    }

    /// Usernames of accounts; those of nobody are left out. One read per hundred.
    pub async fn names(&self, accounts: impl Iterator<Item = Address>) -> Result<HashMap<Address, String>, StoreError> {
        self.artists.usernames(&Vec::from_iter(BTreeSet::from_iter(accounts))).await
    }
}

impl AllowedChains for Reader {
    fn check(&self, chain: ChainId) -> Result<(), Invalid> {
        self.chains.get(chain).map(drop)
    }
}

impl Person {
    pub(super) fn named(address: Address, names: &HashMap<Address, String>) -> Self {
        Self { address, username: names.get(&address).cloned().unwrap_or_default() }
    }
}

impl Pagination {
    /// Places `page` in a list of `rows`.
    pub fn new(page: Page, rows: u64) -> Self {
        let (number, limit) = (page.number.get(), page.limit.get());
        Self { page: number, limit, total_count: Some(rows), total_pages: page.count(rows) }
    }

    /// The same of a list whose pages leave some of its rows out.
    #[must_use]
    pub fn uncounted(self) -> Self {
        Self { total_count: None, ..self }
    }

    /// Whether another page follows.
    pub fn has_more(self) -> bool {
        u64::from(self.page) < self.total_pages
    }
}
