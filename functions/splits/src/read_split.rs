//! Request, answer and description of `GET /splits/{network}/{address}`.

use alloy::primitives::U256;
use serde::Serialize;
use shared::{
    api::{prepare::PreparedCall, read::FeeRecipientView},
    chain::protocol::currency::Currency,
    http::FromFields,
    model::{Address, Amount, CaipNetwork, ChainId},
};
use utoipa::{IntoParams, ToSchema};

/// A split in a path.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct SplitPath {
    /// The split's chain.
    pub network: CaipNetwork,
    /// Its contract.
    pub address: Address,
}

/// A split.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadSplitResponse {
    pub address: Address,
    pub chain_id: ChainId,
    pub recipients: Vec<FeeRecipientView>,
    /// What the next payout divides, in each supported currency, the chain's own first.
    pub waiting: Vec<WaitingAmount>,
    /// What any wallet sends to pay it out, one call a currency. None where nothing that can be divided waits, or where
    /// the split has an owner or a reward: whoever made it pays it out.
    #[schema(max_items = 2)]
    pub payout: Vec<PreparedCall>,
}

/// What waits in a split in one currency.
#[derive(Serialize, ToSchema)]
pub struct WaitingAmount {
    /// The currency's contract; the zero address for the chain's own.
    pub currency: Address,
    /// Currency symbol.
    pub symbol: &'static str,
    /// Decimals of `amount`.
    pub decimals: u8,
    /// In the smallest unit.
    pub amount: Amount,
}

impl WaitingAmount {
    /// An amount of a currency.
    pub fn of(Currency { symbol, decimals, contract }: Currency, amount: U256) -> Self {
        Self { currency: contract.unwrap_or_default().into(), symbol, decimals, amount: Amount(amount) }
    }
}

/// Read a split
///
/// Its recipients, and what waits for them until `POST /splits/distribute`, or a wallet of anybody, pays it out. A new split is there within seconds.
#[utoipa::path(
    get,
    path = "/splits/{network}/{address}",
    tag = "Splits",
    params(SplitPath),
    responses((status = 200, description = "The split.", body = ReadSplitResponse)),
    extensions(("x-errors" = json!([404, 429, 502, 503]))),
)]
pub fn read_split() {}
