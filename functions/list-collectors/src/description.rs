use shared::model::{Address, PageParameters, Period, RankedBy, SortOrder};

use super::ListCollectorsResponse;

/// List collectors
///
/// By how much they collected or spent.
#[utoipa::path(
    get,
    path = "/collectors",
    tag = "Activity",
    params(
        ("period" = inline(Option<Period>), Query, description = "How far back; `all` unless given."),
        ("artist" = Option<Address>, Query, description = "Only collectors of what this account made."),
        ("sort_by" = inline(Option<RankedBy>), Query, description = "By what; `collected_count` unless given."),
        ("sort_order" = inline(Option<SortOrder>), Query, description = "Which end first; `desc` unless given."),
        PageParameters,
    ),
    responses((status = 200, description = "The page.", body = ListCollectorsResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
fn list_collectors() {}

contract::published!(list_collectors);
