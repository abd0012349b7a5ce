use shared::model::{Address, ChainId, PageParameters};

use super::ListCollectionsResponse;

/// List collections
///
/// Newest first.
#[utoipa::path(
    get,
    path = "/collections",
    tag = "Collections",
    params(
        ("artist" = Option<Address>, Query, description = "Who made them."),
        ("chain_id" = Option<ChainId>, Query, description = "The chain; 8453 unless given."),
        PageParameters,
    ),
    responses((status = 200, description = "The page.", body = ListCollectionsResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
fn list_collections() {}

contract::published!(list_collections);
