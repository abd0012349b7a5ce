//! What public reads show of collections, moments and payments: the rows of a page with the names and metadata that
//! belong to them. Each kind of row is looked up for all of the page at once.

mod collection;
mod moment;
mod payment;

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use utoipa::ToSchema;

pub use self::{
    collection::ShownCollection,
    moment::{ShownMoment, ShownSale, Supply},
    payment::ShownPayment,
};
use crate::{
    chain::Chains,
    config::ConfigError,
    http::Fields,
    model::{Address, ChainId, Page},
    store::{Artists, Comments, Documents, Moments, StoreError, Table},
};

/// Why a page can't be shown.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A time can't be written.
    #[error("time of a row")]
    Time(#[from] time::Error),
}

/// Looks up what belongs to rows.
#[derive(Clone)]
pub struct Reader {
    chains: Chains,
    moments: Moments,
    documents: Documents,
    comments: Comments,
    artists: Artists,
}

/// An account with the name of the artist whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Person {
    /// The account.
    pub address: Address,
    /// The name; empty without one.
    pub username: String,
}

/// Where a page is in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Pagination {
    /// Which page it is; 1 is the first.
    page: u32,
    /// How many rows a page has, unless the list ends.
    limit: u32,
    /// How many pages there are; none of an empty list.
    total_pages: u64,
}

/// Names by account.
struct Names(HashMap<Address, String>);

impl Reader {
    /// Looks up in the tables of what the chain can rebuild and of artists. Reads `CHAINS`.
    ///
    /// # Errors
    /// When it is wrong.
    pub fn from_env(chain: Table, artists: Table) -> Result<Self, ConfigError> {
        Ok(Self {
            chains: Chains::from_env()?,
            moments: Moments::new(chain.clone()),
            documents: Documents::new(chain.clone()),
            comments: Comments::new(chain),
            artists: Artists::new(artists),
        })
    }

    /// Reads the parameter `name` as a chain that is served: 8453 unless given.
    pub fn chain(&self, fields: &mut Fields, name: &str) -> Option<ChainId> {
        let chain = fields.optional_or(name, ChainId::DEFAULT)?;
        self.chains.get(chain).map_err(|error| fields.refuse(name, error)).ok()?;
        Some(chain)
    }

    /// The names of these accounts. One read for every hundred.
    async fn names(&self, accounts: impl Iterator<Item = Address>) -> Result<Names, StoreError> {
        let accounts = Vec::from_iter(BTreeSet::from_iter(accounts));
        Ok(Names(self.artists.usernames(&accounts).await?))
    }
}

impl Names {
    fn person(&self, address: Address) -> Person {
        Person { address, username: self.0.get(&address).cloned().unwrap_or_default() }
    }
}

impl Pagination {
    /// Says where `page` is in a list of `rows`.
    pub fn new(page: Page, rows: u64) -> Self {
        Self { page: page.number.get(), limit: page.limit.get(), total_pages: page.count(rows) }
    }

    /// Whether another page follows.
    pub fn has_more(self) -> bool {
        u64::from(self.page) < self.total_pages
    }
}
