//! Adds names and metadata to the rows of a page, each kind in one lookup for the whole page.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    chain::Chains,
    config::ConfigError,
    http::AllowedChains,
    model::{Address, ChainId, Invalid, Page},
    store::{Artists, Comments, Documents, Moments, StoreError, Table},
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
}

/// Turns rows into views.
#[derive(Clone)]
pub struct Reader {
    pub(super) chains: Chains,
    pub(super) moments: Moments,
    pub(super) documents: Documents,
    pub(super) comments: Comments,
    artists: Artists,
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
    /// Number of pages; 0 for an empty list.
    total_pages: u64,
}

pub(super) struct Names(HashMap<Address, String>);

impl Reader {
    /// Reads `CHAINS`.
    pub fn from_env(chain: Table, artists: Table) -> Result<Self, ConfigError> {
        Ok(Self {
            chains: Chains::from_env()?,
            moments: Moments::new(chain.clone()),
            documents: Documents::new(chain.clone()),
            comments: Comments::new(chain),
            artists: Artists::new(artists),
        })
    }

    pub(super) async fn names(&self, accounts: impl Iterator<Item = Address>) -> Result<Names, StoreError> {
        let accounts = Vec::from_iter(BTreeSet::from_iter(accounts));
        Ok(Names(self.artists.usernames(&accounts).await?))
    }
}

impl AllowedChains for Reader {
    fn check(&self, chain: ChainId) -> Result<(), Invalid> {
        self.chains.get(chain).map(drop)
    }
}

impl Names {
    pub(super) fn person(&self, address: Address) -> Person {
        Person { address, username: self.0.get(&address).cloned().unwrap_or_default() }
    }
}

impl Pagination {
    /// Places `page` in a list of `rows`.
    pub fn new(page: Page, rows: u64) -> Self {
        Self { page: page.number.get(), limit: page.limit.get(), total_pages: page.count(rows) }
    }

    /// Whether another page follows.
    pub fn has_more(self) -> bool {
        u64::from(self.page) < self.total_pages
    }
}
