//! `GET /collectors`: who collected the most, or paid the most for it.

#[cfg(test)]
mod description;

use serde::Serialize;
use shared::{
    config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{Address, ArtistId, Page, Period, RankedBy, SortOrder, Wallet, WalletType},
    store::{Artists, Introduction, RankedCollector, Ranking, RankingScope, Rankings, Table},
    telemetry,
};
use utoipa::ToSchema;

/// Digits after the point of an ether, and of a USDC.
const ETH_DECIMALS: usize = 18;
const USDC_DECIMALS: usize = 6;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(ListCollectors::from_env().await?).await
}

struct ListCollectors {
    rankings: Rankings,
    artists: Artists,
}

/// Which collectors are asked for.
struct ListCollectorsQuery {
    /// `period` (all unless given), `artist` (everybody unless given), `sort_by` (`collected_count` unless given) and
    /// `sort_order` (`desc` unless given).
    ranking: Ranking,
    /// `limit` (1 to 100, 20 unless given) and `page` (1 unless given).
    page: Page,
}

#[derive(Serialize, ToSchema)]
struct ListCollectorsResponse {
    /// Equals in the order of their ids.
    collectors: Vec<Collector>,
    /// Which page it is.
    page: u32,
}

/// The contract's collector entry.
#[derive(Serialize, ToSchema)]
struct Collector {
    artist_id: ArtistId,
    /// Empty for those who have no name, or no profile.
    username: String,
    /// In the order of their addresses.
    wallets: Vec<Wallet>,
    /// How many collects were paid for.
    collected_count: u64,
    /// In ethers, exactly.
    eth_spent: String,
    /// In USDC, exactly.
    usdc_spent: String,
}

impl ListCollectors {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self { rankings: Rankings::new(Table::chain(&aws)?), artists: Artists::new(Table::artists(&aws)?) })
    }
}

impl Endpoint for ListCollectors {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ListCollectorsQuery { ranking, page } = ListCollectorsQuery::parse(request)?;
        let ranked = self.rankings.page(ranking, page).await?;
        let ids: Vec<_> = ranked.rows.iter().map(|collector| collector.artist_id).collect();
        let mut artists = self.artists.introductions(&ids).await?;
        let shown = ranked.rows.into_iter().map(|collector| {
            let artist = artists.remove(&collector.artist_id);
            Collector::new(collector, artist)
        });
        let response = ListCollectorsResponse { collectors: shown.collect(), page: page.number.get() };
        Response::public(&response)?.with_next_page(request, page, page.end() < ranked.total)
    }
}

impl ListCollectorsQuery {
    fn parse(request: &Request) -> Result<Self, ApiError> {
        let mut fields = request.query();
        let period = fields.optional_or("period", Period::All);
        let page = fields.page();
        let artist = fields.has("artist").then(|| fields.optional::<Address>("artist"));
        let by = fields.optional_or("sort_by", RankedBy::CollectedCount);
        let order = fields.optional_or("sort_order", SortOrder::Descending);
        fields.finish(|| {
            let scope = match artist {
                Some(artist) => RankingScope::CreatedBy(artist?),
                None => RankingScope::All,
            };
            Some(Self { ranking: Ranking { scope, period: period?, by: by?, order: order? }, page: page? })
        })
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
