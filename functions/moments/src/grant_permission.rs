//! Request and description of `POST /moment/permission`.

use shared::{
    api::transact::SentTransaction,
    http::FromFields,
    model::{CheckedAddress, MomentRef},
};
use utoipa::ToSchema;

/// The moment and its new admin.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct GrantPermissionRequest {
    /// The moment; token 0 is its whole collection.
    pub moment: MomentRef,
    /// Account that gets the permission.
    pub admin_address: CheckedAddress,
}

/// Make an account an admin of a moment
///
/// Needs the permission ADMIN on the moment or its collection. Token 0 is the whole collection.
/// A token needs a sign-in within the last 15 minutes. The artist is notified by mail.
#[utoipa::path(
    post,
    path = "/moment/permission",
    tag = "Moments",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = GrantPermissionRequest, example = json!({
        "moment": {"collectionAddress": "0x540c18b7f99b3b599c6feb99964498931c211858", "tokenId": "1"},
        "adminAddress": "0x00000000000000000000000000000000000000a1",
    })),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
    extensions(("x-effect" = json!("write")), ("x-errors" = json!([404]))),
)]
pub fn grant_permission() {}
