//! Request, answer and description of `GET /splits/{network}/{address}`.

use serde::Serialize;
use shared::{
    api::read::FeeRecipientView,
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

/// Read a split
///
/// Its recipients, and what waits for them until `POST /splits/distribute`. A new split is there within seconds.
#[utoipa::path(
    get,
    path = "/splits/{network}/{address}",
    tag = "Splits",
    params(SplitPath),
    responses((status = 200, description = "The split.", body = ReadSplitResponse)),
    extensions(("x-errors" = json!([404, 429, 502, 503]))),
)]
pub fn read_split() {}
