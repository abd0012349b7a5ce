//! Request and description of `POST /registry/metadata/moment`.

use shared::{
    api::transact::SentTransaction,
    http::FromFields,
    model::{MetadataUri, MomentRef},
};
use utoipa::ToSchema;

/// The moment's new metadata.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct UpdateMomentUriRequest {
    /// The moment.
    pub moment: MomentRef,
    /// New metadata.
    pub new_uri: MetadataUri,
}

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
    extensions(("x-effect" = json!("write")), ("x-errors" = json!([404]))),
)]
pub fn update_moment_uri() {}
