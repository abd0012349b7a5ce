//! Request and description of `POST /moment/create/prepare`.

use shared::{
    api::{
        prepare::PreparedCalls,
        publish::{MomentContract, MomentToken, SplitRecipient, Splits},
    },
    http::FromFields,
    model::{Address, ChainId, CheckedAddress, NewMoment, TargetCollection},
};
use utoipa::ToSchema;

/// A wallet's new moment.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct PrepareMomentRequest {
    /// Its collection: one that `account` administers, or a new one.
    #[schema(value_type = MomentContract)]
    pub contract: TargetCollection,
    /// The moment.
    #[schema(value_type = MomentToken)]
    pub token: NewMoment,
    /// The wallet that will send the calls: admin, and recipient of proceeds, royalties and first tokens.
    #[schema(value_type = Address)]
    pub account: CheckedAddress,
    /// Recipients of the proceeds: none, or at least two different ones with 100 percent together.
    #[schema(value_type = Option<Vec<SplitRecipient>>, max_items = 100)]
    pub splits: Splits,
    /// The collection's chain.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    pub chain_id: ChainId,
}

/// Prepare a wallet's creation
///
/// What any wallet sends to create a moment, in a new collection or one that it administers, tried on the newest block;
/// nothing is sent or stored. No sign-in.
#[utoipa::path(
    post,
    path = "/moment/create/prepare",
    tag = "Moments",
    request_body(content = PrepareMomentRequest, example = json!({
        "contract": shared::api::publish::example::new_contract(),
        "token": {
            "tokenMetadataURI": "ar://jK9sLb1mRzUQxG6cVtYf0sPDNwqk3XeMhA5oTtWZyPI",
            "salesConfig": shared::api::publish::example::open_sale(),
        },
        "account": "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
    })),
    responses((status = 200, description = "The calls.", body = PreparedCalls)),
    extensions(("x-errors" = json!([402, 403, 404, 422, 429, 502, 503]))),
)]
pub fn prepare_moment() {}
