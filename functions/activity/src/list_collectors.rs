//! Contract of `GET /collectors`.

use serde::Serialize;
use shared::{
    api::request::PageQuery,
    chain::protocol::currency::{ETH_DECIMALS, USDC_DECIMALS},
    http::FromFields,
    model::{ArtistId, ArtistName, ChainId, Page, Period, RankedBy, SortOrder, Wallet, WalletType},
    store::{artist::Introduction, chain::RankedCollector},
};
use utoipa::{IntoParams, ToSchema};

/// The ranking and its page.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListCollectorsQuery {
    /// How far back.
    #[param(default = "all", required = false)]
    pub period: Period,
    #[param(ignore)]
    #[field(flatten)]
    pub page: Page,
    /// Only collectors of this artist's moments, by any of their wallets or their username: moments of all of their wallets.
    #[param(inline)]
    pub artist: Option<ArtistName>,
    /// Only collects on this chain. By default those on all, test networks only where there are no others.
    #[param(rename = "chainId")]
    pub chain_id: Option<ChainId>,
    /// Sort key.
    #[param(default = "collected_count", required = false)]
    pub sort_by: RankedBy,
    /// Direction.
    #[param(default = "desc", required = false)]
    pub sort_order: SortOrder,
}

/// A page of a ranking.
#[derive(Serialize, ToSchema)]
pub struct ListCollectorsResponse {
    /// Ties break by id: ascending in descending order, descending in ascending order.
    pub collectors: Vec<Collector>,
    /// Page number.
    pub page: u32,
    /// Number of collectors.
    pub total_count: u64,
    /// Number of pages; 0 for an empty list.
    pub total_pages: u64,
}

/// A ranked collector.
#[derive(Serialize, ToSchema)]
pub struct Collector {
    pub artist_id: ArtistId,
    /// Empty without a name or a profile.
    pub username: String,
    /// Sorted by address.
    pub wallets: Vec<Wallet>,
    /// Number of paid collects.
    pub collected_count: u64,
    /// Exact amount in ether.
    pub eth_spent: String,
    /// Exact amount in USDC.
    pub usdc_spent: String,
}

/// List collectors
///
/// By number of collects or by spending.
#[utoipa::path(
    get,
    path = "/collectors",
    tag = "Activity",
    params(ListCollectorsQuery, PageQuery),
    responses((status = 200, description = "The page.", body = ListCollectorsResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
    extensions(("x-errors" = json!([422]))),
)]
pub fn list_collectors() {}

impl Collector {
    pub fn new(collector: RankedCollector, artist: Option<Introduction>) -> Self {
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
            eth_spent: collector.spending.eth_spent.decimal(ETH_DECIMALS.into()),
            usdc_spent: collector.spending.usdc_spent.decimal(USDC_DECIMALS.into()),
        }
    }
}
