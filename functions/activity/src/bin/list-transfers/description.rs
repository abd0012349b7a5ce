use shared::api::request::PageQuery;

use super::{ListTransfersResponse, query::ListTransfersQuery};

/// List transfers
///
/// Who got which tokens, and how: through a sale, by an airdrop, from another account. Newest first. Where filters are
/// combined for which there is no list, a page has the matches among a longer list's page: it may be short or empty before the
/// last one, and `total_count` is null.
#[utoipa::path(
    get,
    path = "/transfers",
    tag = "Activity",
    params(ListTransfersQuery, PageQuery),
    responses((status = 200, description = "The page.", body = ListTransfersResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
fn list_transfers() {}

openapi::published!(list_transfers);
