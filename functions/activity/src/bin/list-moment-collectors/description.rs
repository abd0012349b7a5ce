use shared::api::request::PageQuery;

use super::{ListMomentCollectorsQuery, ListMomentCollectorsResponse};

/// List a moment's collectors
///
/// Who got tokens of it, newest first: through a sale, by an airdrop, from another account.
#[utoipa::path(
    get,
    path = "/moment/collectors",
    tag = "Moments",
    params(ListMomentCollectorsQuery, PageQuery),
    responses((status = 200, description = "The page.", body = ListMomentCollectorsResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
fn list_moment_collectors() {}

openapi::published!(list_moment_collectors);
