use shared::model::{Address, PageParameters};
use utoipa::ToSchema;

use super::ListCollectorsResponse;

/// How far back a ranking goes.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "describes what is parsed elsewhere")]
enum PeriodWord {
    Day,
    Week,
    Month,
    All,
}

/// What collectors are ranked by.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "describes what is parsed elsewhere")]
enum SortField {
    CollectedCount,
    EthSpent,
    UsdcSpent,
}

/// Which end of a ranking comes first.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "describes what is parsed elsewhere")]
enum SortDirection {
    Asc,
    Desc,
}

/// List collectors
///
/// By how much they collected or spent.
#[utoipa::path(
    get,
    path = "/collectors",
    tag = "Activity",
    params(
        ("period" = inline(Option<PeriodWord>), Query, description = "How far back; `all` unless given."),
        ("artist" = Option<Address>, Query, description = "Only collectors of what this account made."),
        ("sort_by" = inline(Option<SortField>), Query, description = "By what; `collected_count` unless given."),
        ("sort_order" = inline(Option<SortDirection>), Query, description = "Which end first; `desc` unless given."),
        PageParameters,
    ),
    responses((status = 200, description = "The page.", body = ListCollectorsResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
fn list_collectors() {}

contract::published!(list_collectors);
