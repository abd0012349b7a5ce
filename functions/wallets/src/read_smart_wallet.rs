//! Contract of `GET /smartwallet`.

use serde::Serialize;
use shared::{
    http::FromFields,
    model::{Address, Amount, ChainId},
};
use utoipa::{IntoParams, ToSchema};

/// The account and its chain.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct ReadSmartWalletQuery {
    /// The embedded wallet, or another wallet of its artist.
    pub address: Address,
    /// The chain.
    #[param(default = json!(ChainId::DEFAULT), required = false)]
    pub chain_id: ChainId,
}

/// An embedded wallet and its balances.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadSmartWalletResponse {
    /// The embedded wallet.
    pub address: Address,
    pub chain_id: ChainId,
    /// Balance in each supported currency, the chain's own first.
    pub balances: Vec<Balance>,
    /// Where the account can be topped up by card or bank transfer, if the operator names a service for that.
    #[schema(required = true)]
    pub on_ramp: Option<String>,
}

/// What a wallet has in one currency.
#[derive(Clone, Serialize, ToSchema)]
pub struct Balance {
    /// The currency's contract; the zero address for the chain's own.
    pub currency: Address,
    /// Currency symbol.
    pub symbol: &'static str,
    /// Decimals of `amount`.
    pub decimals: u8,
    /// In the smallest unit.
    pub amount: Amount,
    /// The same in the main unit, such as ether: exact, without trailing zeros.
    #[serde(rename = "decimalAmount")]
    #[schema(pattern = r"^[0-9]+(\.[0-9]*[1-9])?$")]
    pub decimal_amount: String,
    /// The request of a payment to the account, as wallets read it (ERC-681). For a certain amount, add it: `?value=` for the
    /// chain's own currency, `&uint256=` for others.
    #[serde(rename = "depositUri")]
    #[schema(example = "ethereum:0x540c18b7f99b3b599c6feb99964498931c211858@8453")]
    pub deposit_uri: String,
    /// The same as a QR code, an SVG. For a certain amount, add `&amount=`.
    #[serde(rename = "depositCode")]
    #[schema(format = "uri")]
    pub deposit_code: String,
}

/// Read the balances of an artist's account
///
/// Reads the current balances from the chain.
#[utoipa::path(
    get,
    path = "/smartwallet",
    tag = "Artists",
    params(ReadSmartWalletQuery),
    responses((status = 200, description = "The balances.", body = ReadSmartWalletResponse)),
    extensions(("x-errors" = json!([404, 429, 502, 503]))),
)]
pub fn read_smart_wallet() {}
