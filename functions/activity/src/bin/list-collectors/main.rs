//! `GET /collectors`: collectors by number of collects or by spending.

#[cfg(test)]
mod description;

use serde::Serialize;
use shared::{
    config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::{ArtistId, ArtistName, Page, Period, RankedBy, SortOrder, Wallet, WalletType},
    store::{
        artist::{ArtistTable, Artists, Introduction},
        chain::{ChainTable, LeaderboardScope, Leaderboards, RankedCollector},
    },
};
use utoipa::{IntoParams, ToSchema};

const ETH_DECIMALS: usize = 18;
const USDC_DECIMALS: usize = 6;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListCollectors>().await
}

struct ListCollectors {
    leaderboards: Leaderboards,
    artists: Artists,
}

/// The ranking and its page.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
struct ListCollectorsQuery {
    /// How far back.
    #[param(default = "all", required = false)]
    period: Period,
    #[param(ignore)]
    #[field(flatten)]
    page: Page,
    /// Only collectors of this artist's moments, by any of their wallets or their username: moments of all of their wallets.
    #[param(inline)]
    artist: Option<ArtistName>,
    /// Sort key.
    #[param(default = "collected_count", required = false)]
    sort_by: RankedBy,
    /// Direction.
    #[param(default = "desc", required = false)]
    sort_order: SortOrder,
}

/// A page of a ranking.
#[derive(Serialize, ToSchema)]
struct ListCollectorsResponse {
    /// Ties break by id: ascending in descending order, descending in ascending order.
    collectors: Vec<Collector>,
    /// Page number.
    page: u32,
    /// Number of collectors.
    total_count: u64,
    /// Number of pages; 0 for an empty list.
    total_pages: u64,
}

/// A ranked collector.
#[derive(Serialize, ToSchema)]
struct Collector {
    artist_id: ArtistId,
    /// Empty without a name or a profile.
    username: String,
    /// Sorted by address.
    wallets: Vec<Wallet>,
    /// Number of paid collects.
    collected_count: u64,
    /// Exact amount in ether.
    eth_spent: String,
    /// Exact amount in USDC.
    usdc_spent: String,
}

impl Endpoint for ListCollectors {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let (chain, artists) = (ChainTable::from_env(&aws)?, ArtistTable::from_env(&aws)?);
        Ok(Self {
            leaderboards: Leaderboards::new(chain.eventually_consistent()),
            artists: Artists::new(artists.eventually_consistent()),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let query: ListCollectorsQuery = request.query().read()?;
        let (page, order) = (query.page, query.sort_order);
        let scopes = match &query.artist {
            None => vec![LeaderboardScope::All],
            Some(artist) => self.artists.accounts(artist).await?.into_iter().map(LeaderboardScope::CreatedBy).collect(),
        };
        let ranked = self.leaderboards.page_of(&scopes, query.period, query.sort_by, order, page).await?;
        let ranked = ranked.ok_or_else(|| {
            ApiError::unprocessable(
                "The artist's accounts have too many collectors to add up: ask for a shorter period",
            )
        })?;
        let ids: Vec<_> = ranked.rows.iter().map(|collector| collector.artist_id).collect();
        let mut artists = self.artists.introductions(&ids).await?;
        let shown = ranked.rows.into_iter().map(|collector| {
            let artist = artists.remove(&collector.artist_id);
            Collector::new(collector, artist)
        });
        let (total_count, total_pages) = (ranked.total, page.count(ranked.total));
        let response =
            ListCollectorsResponse { collectors: shown.collect(), page: page.number.get(), total_count, total_pages };
        Response::public(&response)?.with_next_page(request, page, page.end() < ranked.total)
    }
}

impl Collector {
    fn new(collector: RankedCollector, artist: Option<Introduction>) -> Self {
        let (username, mut wallets) = match artist {
            Some(artist) => (artist.username, artist.wallets),
            None => (String::new(), vec![Wallet { address: collector.wallet, r#type: WalletType::External }]),
        };
        wallets.sort_unstable_by_key(|wallet| wallet.address);
        Self {
            artist_id: collector.artist_id,
            username,
            wallets,
            collected_count: collector.spending.collected_count,
            eth_spent: collector.spending.eth_spent.decimal(ETH_DECIMALS),
            usdc_spent: collector.spending.usdc_spent.decimal(USDC_DECIMALS),
        }
    }
}
