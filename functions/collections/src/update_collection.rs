//! Request and description of `PATCH /collections/{network}/{contract}`.

use shared::{
    api::{request::CollectionPath, transact::SentTransaction},
    http::FromFields,
    model::{CollectionName, MetadataUri},
};
use utoipa::ToSchema;

/// The collection's new metadata.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct UpdateCollectionRequest {
    /// New metadata.
    pub new_uri: MetadataUri,
    /// New name.
    pub new_collection_name: CollectionName,
}

/// Update a collection
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
    extensions(("x-effect" = json!("write")), ("x-errors" = json!([404]))),
)]
pub fn update_collection() {}
