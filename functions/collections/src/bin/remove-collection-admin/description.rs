use shared::api::{request::CollectionPath, transact::SentTransaction};

use super::RemoveCollectionAdminQuery;

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
)]
fn remove_collection_admin() {}

openapi::published!(remove_collection_admin writes, 404);
