//! Request and description of `POST /moment/airdrop`.

use shared::{
    api::transact::SentTransaction,
    http::FromFields,
    model::{GiftRecipient, MomentRef},
};
use utoipa::ToSchema;

/// The moment and its recipients.
#[derive(FromFields, ToSchema)]
pub struct AirdropMomentRequest {
    /// The moment.
    pub moment: MomentRef,
    /// Recipients of one token each, by address, username or mail address; one who is named twice gets two.
    #[schema(min_items = 1, max_items = 200)]
    pub recipients: Vec<GiftRecipient>,
}

/// Airdrop a moment
///
/// In one transaction. Needs the permission MINTER, or ADMIN, on the moment or its collection. To give the same again
/// within ten minutes, send an `Idempotency-Key`. A mail address gets a mail, and its token is in the account that it signs
/// in to, for the first time within a year; 50 of them in a day.
#[utoipa::path(
    post,
    path = "/moment/airdrop",
    tag = "Moments",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = AirdropMomentRequest, example = json!({"moment": {"collectionAddress": "0x540c18b7f99b3b599c6feb99964498931c211858", "tokenId": "1"}, "recipients": ["0x00000000000000000000000000000000000000a1", "friend@example.com"]})),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
    extensions(("x-effect" = json!("write")), ("x-errors" = json!([404]))),
)]
pub fn airdrop_moment() {}
