use shared::api::transact::SentTransaction;

use super::UpdateMomentUriRequest;

/// Change a moment's metadata URI
///
/// Needs the permission METADATA, or ADMIN, on the moment or its collection. A moment of the `registry` protocol needs your
/// account as its owner or artist, or as its collection's owner, artist or manager.
#[utoipa::path(
    post,
    path = "/registry/metadata/moment",
    tag = "Moments",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = UpdateMomentUriRequest, example = json!({
        "moment": {"collectionAddress": "0x540c18b7f99b3b599c6feb99964498931c211858", "tokenId": "1"},
        "newUri": "ar://jK9sLb1mRzUQxG6cVtYf0sPDNwqk3XeMhA5oTtWZyPI",
    })),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
)]
fn update_moment_uri() {}

openapi::published!(update_moment_uri writes, 404);
