//! Request, answer and description of `POST /moment/accept`.

use serde::Serialize;
use shared::{
    http::FromFields,
    model::{Address, ChainId},
};
use utoipa::ToSchema;

/// What is accepted: one of the two.
#[derive(FromFields, ToSchema)]
#[schema(min_properties = 1, max_properties = 1)]
pub struct AcceptMomentRequest {
    /// A collection that was made in your name.
    pub collection: Option<AcceptedCollection>,
    /// An account: what it makes in your name from now on, and what it makes you an admin of.
    pub sender: Option<Address>,
}

/// A collection on a chain.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct AcceptedCollection {
    /// Its contract.
    pub collection_address: Address,
    /// Its chain.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    pub chain_id: ChainId,
}

/// It holds from now on.
#[derive(Serialize, ToSchema)]
pub struct AcceptMomentResponse {
    pub success: bool,
}

/// Accept what was made in your name
///
/// What another account makes in an artist's name is that account's until the artist accepts it: a collection with the
/// moments made with it, or an account's collections from now on. Nor are artists listed with what others make them an
/// admin of, unless they accepted the account. What was paid before stays whose it was. Lists follow
/// within seconds; `collection.accepted` tells of it.
#[utoipa::path(
    post,
    path = "/moment/accept",
    tag = "Moments",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = AcceptMomentRequest, example = json!({
        "sender": "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
    })),
    responses((status = 200, description = "It is accepted.", body = AcceptMomentResponse)),
    extensions(("x-errors" = json!([403, 404, 409]))),
)]
pub fn accept_moment() {}
