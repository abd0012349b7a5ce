//! Request and description of `POST /moment/migrate`.

use shared::{
    api::transact::{WritesInProgressResponse, WritesResponse},
    http::FromFields,
    model::ChainId,
};
use utoipa::ToSchema;

/// The chain.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct MigrateMomentsRequest {
    /// The chain.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    pub chain_id: ChainId,
}

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
    extensions(("x-effect" = json!("write"))),
)]
pub fn migrate_moments() {}
