use shared::{model::ChainId, writing::WritesResponse};
use utoipa::ToSchema;

/// Where moments are migrated.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct MigrateMomentsBody {
    /// The chain.
    #[schema(default = json!(ChainId::DEFAULT))]
    #[expect(dead_code, reason = "describes what is parsed elsewhere")]
    chain_id: Option<ChainId>,
}

/// Make your own wallets admins of what the service's account made
///
/// With as many transactions as it takes; connect a wallet first. The body may be left out.
#[utoipa::path(
    post,
    path = "/moment/migrate",
    tag = "Moments",
    security(("apiKey" = [])),
    request_body(content = Option<MigrateMomentsBody>, example = json!({"chainId": 8453})),
    responses((status = 200, description = "The transactions.", body = WritesResponse)),
)]
fn migrate_moments() {}

contract::published!(migrate_moments writes);
