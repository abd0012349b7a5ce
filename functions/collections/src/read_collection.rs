//! Description of `GET /collections/{network}/{contract}`.

use shared::api::{read::CollectionView, request::CollectionPath};

/// Read a collection
///
/// Returns the indexed collection. The index lags the chain by a few seconds.
#[utoipa::path(
    get,
    path = "/collections/{network}/{contract}",
    tag = "Collections",
    params(CollectionPath),
    responses((status = 200, description = "The collection.", body = CollectionView)),
    extensions(("x-errors" = json!([404]))),
)]
pub fn read_collection() {}
