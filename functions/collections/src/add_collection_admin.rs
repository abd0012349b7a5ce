//! Request and description of `POST /collections/{network}/{contract}/admins`.

use shared::{
    api::{request::CollectionPath, transact::SentTransaction},
    http::FromFields,
    model::CheckedAddress,
};
use utoipa::ToSchema;

/// The new admin.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct AddCollectionAdminRequest {
    /// Account that gets the permission.
    pub admin_address: CheckedAddress,
}

/// Make an account an admin of a collection
///
/// Of the collection and all of its moments. Needs the permission ADMIN on the collection. A token
/// needs a sign-in within the last 15 minutes. The artist is notified by mail.
#[utoipa::path(
    post,
    path = "/collections/{network}/{contract}/admins",
    tag = "Collections",
    security(("apiKey" = []), ("token" = [])),
    params(CollectionPath),
    request_body(content = AddCollectionAdminRequest, example = json!({"adminAddress": "0x00000000000000000000000000000000000000a1"})),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
    extensions(("x-effect" = json!("write")), ("x-errors" = json!([404]))),
)]
pub fn add_collection_admin() {}
