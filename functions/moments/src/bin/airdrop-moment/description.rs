use shared::api::transact::SentTransaction;

use super::AirdropMomentRequest;

/// Airdrop a moment
///
/// In one transaction. Needs the permission MINTER, or ADMIN, on the moment or its collection.
#[utoipa::path(
    post,
    path = "/moment/airdrop",
    tag = "Moments",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = AirdropMomentRequest, example = json!({"moment": {"collectionAddress": "0x540c18b7f99b3b599c6feb99964498931c211858", "tokenId": "1"}, "recipients": ["0x00000000000000000000000000000000000000a1"]})),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
)]
fn airdrop_moment() {}

openapi::published!(airdrop_moment pays, 404);
