use shared::api::{request::CollectionPath, transact::SentTransaction};

use super::UpdateCollectionRequest;

/// Rename a collection
///
/// Sets a new name and metadata URI. Needs the permission METADATA, or ADMIN, on the collection.
#[utoipa::path(
    patch,
    path = "/collections/{network}/{contract}",
    tag = "Collections",
    security(("apiKey" = []), ("token" = [])),
    params(CollectionPath),
    request_body(content = UpdateCollectionRequest, example = json!({"newUri": "ar://jK9sLb1mRzUQxG6cVtYf0sPDNwqk3XeMhA5oTtWZyPI", "newCollectionName": "Weather diary"})),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
)]
fn update_collection() {}

openapi::published!(update_collection writes, 404);
