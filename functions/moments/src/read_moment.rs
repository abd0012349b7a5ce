//! Request and description of `GET /moment`.

use shared::{
    api::read::MomentView,
    http::FromFields,
    model::{Address, ChainId, TokenId},
};
use utoipa::IntoParams;

/// The moment.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct ReadMomentQuery {
    /// The moment's collection.
    pub collection_address: Address,
    /// The moment's token.
    pub token_id: TokenId,
    /// The collection's chain.
    #[param(default = json!(ChainId::DEFAULT), required = false)]
    pub chain_id: ChainId,
}

/// Read a moment
///
/// Returns the indexed moment and its current sale. The index lags the chain by a few seconds.
#[utoipa::path(
    get,
    path = "/moment",
    tag = "Moments",
    params(ReadMomentQuery),
    responses((status = 200, description = "The moment.", body = MomentView)),
    extensions(("x-errors" = json!([404]))),
)]
pub fn read_moment() {}
