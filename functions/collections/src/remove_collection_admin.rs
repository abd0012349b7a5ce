//! Request and description of `DELETE /collections/{network}/{contract}/admins`.

use shared::{
    api::{request::CollectionPath, transact::SentTransaction},
    http::FromFields,
    model::CheckedAddress,
};
use utoipa::IntoParams;

/// The admin.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct RemoveCollectionAdminQuery {
    /// Account that loses the permission.
    pub admin_address: CheckedAddress,
}

/// Revoke the admin permission on a collection
///
/// Needs the permission ADMIN on the collection. Its last admin stays; admins of single moments do, too.
#[utoipa::path(
    delete,
    path = "/collections/{network}/{contract}/admins",
    tag = "Collections",
    security(("apiKey" = []), ("token" = [])),
    params(CollectionPath, RemoveCollectionAdminQuery),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
    extensions(("x-effect" = json!("write")), ("x-errors" = json!([404]))),
)]
pub fn remove_collection_admin() {}
