use shared::api::transact::SentTransaction;

use super::CollectMomentRequest;

/// Collect a moment
///
/// The artist's embedded wallet gets the tokens and pays the sale's price and the protocol's mint fee. With
/// `maxPrice`, a dearer order is 409 with the `price` now. Needs an `Idempotency-Key`; counts against the key's daily limit.
#[utoipa::path(
    post,
    path = "/moment/collect",
    tag = "Moments",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = CollectMomentRequest, example = json!({"moment": {"collectionAddress": "0x540c18b7f99b3b599c6feb99964498931c211858", "tokenId": "1"}, "amount": 1, "comment": "The light on the water!"})),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
)]
fn collect_moment() {}

openapi::published!(collect_moment pays, 404);
