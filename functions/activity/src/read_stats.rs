//! Contract of `GET /stats`.

use serde::Serialize;
use shared::{
    chain::protocol::currency::{ETH_DECIMALS, USDC_DECIMALS},
    http::FromFields,
    model::{Address, ArtistName, ChainId, Counts, Period},
};
use utoipa::{IntoParams, ToSchema};

/// Whose statistics, and how far back.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct ReadStatsQuery {
    /// Who created the moments, by any of their wallets or their username: moments of all of their wallets.
    #[param(inline)]
    pub artist: Option<ArtistName>,
    /// Or the moments' collection.
    pub collection: Option<Address>,
    /// The chain; by default all but test networks.
    pub chain_id: Option<ChainId>,
    /// How far back: today (`day`), the 7 days (`week`) or the 30 days (`month`) until today, in UTC, or all time.
    #[param(default = "all", required = false)]
    pub period: Period,
}

/// What happened to the moments.
#[derive(Serialize, ToSchema)]
pub struct ReadStatsResponse {
    /// Unix time in seconds from which on it is counted; null for all time.
    #[schema(required = true)]
    pub since: Option<u64>,
    #[serde(flatten)]
    pub counts: CountsView,
    /// The days of the period, at most the last 30, the newest last; those without anything are left out.
    #[schema(max_items = 30)]
    pub days: Vec<DayView>,
}

/// The counts of a day.
#[derive(Serialize, ToSchema)]
pub struct DayView {
    /// Its first second in UTC, as Unix time.
    pub day: u64,
    #[serde(flatten)]
    pub counts: CountsView,
}

/// Counts.
#[derive(Serialize, ToSchema)]
#[schema(as = StatsCounts)]
pub struct CountsView {
    /// Moments created.
    pub created_count: u64,
    /// Collects, paid or not; airdrops aren't.
    pub collected_count: u64,
    /// Tokens collected.
    pub token_count: String,
    /// Accounts that collected, each once for each of the artist's wallets and each chain. A day's are those that haven't
    /// collected since.
    pub collector_count: u64,
    /// Exact proceeds in ether.
    pub eth_earned: String,
    /// Exact proceeds in USDC.
    pub usdc_earned: String,
    /// Collects whose collector somebody sent (`referral`).
    pub referred_count: u64,
    /// Collects, of anybody's moments, whose collector the artist sent.
    pub referral_count: u64,
    /// What the artist got for these in ether, exactly.
    pub referral_eth: String,
    /// What the artist got for these in USDC, exactly.
    pub referral_usdc: String,
}

/// Read statistics
///
/// Of an artist or a collection: name one of them. As exact as the index, seconds after each block.
#[utoipa::path(
    get,
    path = "/stats",
    tag = "Activity",
    params(ReadStatsQuery),
    responses((status = 200, description = "The counts.", body = ReadStatsResponse)),
)]
pub fn read_stats() {}

impl From<Counts> for CountsView {
    fn from(counts: Counts) -> Self {
        Self {
            created_count: counts.created,
            collected_count: counts.collects,
            token_count: counts.tokens.to_string(),
            collector_count: counts.collectors,
            eth_earned: counts.eth.decimal(ETH_DECIMALS.into()),
            usdc_earned: counts.usdc.decimal(USDC_DECIMALS.into()),
            referred_count: counts.referred,
            referral_count: counts.referrals,
            referral_eth: counts.referral_eth.decimal(ETH_DECIMALS.into()),
            referral_usdc: counts.referral_usdc.decimal(USDC_DECIMALS.into()),
        }
    }
}
