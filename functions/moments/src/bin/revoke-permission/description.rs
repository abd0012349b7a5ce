use shared::{
    api::transact::SentTransaction,
    model::{Address, ChainId, CheckedAddress, TokenId},
};

use super::RevokePermissionRequest;

/// Revoke the admin permission on a moment
///
/// Needs the permission ADMIN on the moment or its collection. The last admin stays. The parameters are in the body or, without
/// one, in the query.
#[utoipa::path(
    delete,
    path = "/moment/permission",
    tag = "Moments",
    security(("apiKey" = []), ("token" = [])),
    params(
        ("collectionAddress" = Option<Address>, Query, description = "Without a body: contract of the collection."),
        ("tokenId" = Option<TokenId>, Query, description = "Without a body: the moment; 0 is the whole collection."),
        ("chainId" = Option<ChainId>, Query, description = "Without a body: chain of the collection."),
        ("adminAddress" = Option<CheckedAddress>, Query, description = "Without a body: account that loses the permission."),
    ),
    request_body(content = Option<RevokePermissionRequest>, example = json!({
        "moment": {"collectionAddress": "0x540c18b7f99b3b599c6feb99964498931c211858", "tokenId": "1"},
        "adminAddress": "0x00000000000000000000000000000000000000a1",
    })),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
)]
fn revoke_permission() {}

openapi::published!(revoke_permission writes, 404);
