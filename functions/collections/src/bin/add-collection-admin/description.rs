use shared::api::{request::CollectionPath, transact::SentTransaction};

use super::AddCollectionAdminRequest;

/// Make an account an admin of a collection
///
/// Of the collection and all of its moments. Needs the permission ADMIN on the collection.
#[utoipa::path(
    post,
    path = "/collections/{network}/{contract}/admins",
    tag = "Collections",
    security(("apiKey" = []), ("token" = [])),
    params(CollectionPath),
    request_body(content = AddCollectionAdminRequest, example = json!({"adminAddress": "0x00000000000000000000000000000000000000a1"})),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
)]
fn add_collection_admin() {}

openapi::published!(add_collection_admin writes, 404);
