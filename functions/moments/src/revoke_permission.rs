//! Request and description of `DELETE /moment/permission`.

use shared::{
    api::{request::MomentFields, transact::SentTransaction},
    http::FromFields,
    model::{Address, ChainId, CheckedAddress, MomentRef, TokenId},
};
use utoipa::ToSchema;

/// The moment and its admin.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct RevokePermissionRequest {
    /// The moment; token 0 is its whole collection.
    pub moment: MomentRef,
    /// Account that loses the permission.
    pub admin_address: CheckedAddress,
}

/// The same in the query, for clients that send no body with `DELETE`.
#[derive(FromFields)]
#[schema(rename_all = "camelCase")]
pub struct RevokePermissionQuery {
    #[field(flatten)]
    moment: MomentFields,
    admin_address: CheckedAddress,
}

impl From<RevokePermissionQuery> for RevokePermissionRequest {
    fn from(query: RevokePermissionQuery) -> Self {
        Self { moment: query.moment.into(), admin_address: query.admin_address }
    }
}

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
    extensions(("x-effect" = json!("write")), ("x-errors" = json!([404]))),
)]
pub fn revoke_permission() {}
