use shared::api::transact::{WritesInProgressResponse, WritesResponse};

use super::MigrateMomentsRequest;

/// Make your own wallet an admin of your moments
///
/// Grants your connected wallet the admin permission on everything that your embedded wallet administers, in up to 5
/// transactions; repeat until there are none. The body is optional.
#[utoipa::path(
    post,
    path = "/moment/migrate",
    tag = "Moments",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = Option<MigrateMomentsRequest>, example = json!({"chainId": 8453})),
    responses(
        (status = 200, description = "The transactions.", body = WritesResponse),
        (status = 202, description = "Not all of them are mined yet.", body = WritesInProgressResponse),
    ),
)]
fn migrate_moments() {}

openapi::published!(migrate_moments writes);
