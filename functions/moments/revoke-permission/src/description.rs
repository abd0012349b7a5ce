use shared::api::transact::SentTransaction;

use super::RevokePermissionRequest;

/// Revoke the admin permission on a moment
///
/// Needs the permission ADMIN on the moment or its collection. The last admin's own stays, and so does one on the
/// whole collection.
#[utoipa::path(
    delete,
    path = "/moment/permission",
    tag = "Moments",
    security(("apiKey" = [])),
    request_body(content = RevokePermissionRequest, example = json!({
        "moment": {"collectionAddress": "0x540c18b7f99b3b599c6feb99964498931c211858", "tokenId": "1"},
        "adminAddress": "0x00000000000000000000000000000000000000a1",
    })),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
)]
fn revoke_permission() {}

openapi::published!(revoke_permission writes, 404);
