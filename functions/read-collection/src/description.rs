use shared::{model::CollectionPath, reading::ShownCollection};

/// Read a collection
#[utoipa::path(
    get,
    path = "/collections/{network}/{contract}",
    tag = "Collections",
    params(CollectionPath),
    responses((status = 200, description = "The collection.", body = ShownCollection)),
)]
fn read_collection() {}

contract::published!(read_collection, 404);
