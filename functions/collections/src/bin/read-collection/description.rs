use shared::api::{read::CollectionView, request::CollectionPath};

/// Read a collection
///
/// What is indexed of it: seconds behind the chain.
#[utoipa::path(
    get,
    path = "/collections/{network}/{contract}",
    tag = "Collections",
    params(CollectionPath),
    responses((status = 200, description = "The collection.", body = CollectionView)),
)]
fn read_collection() {}

openapi::published!(read_collection, 404);
