use shared::model::{Address, ChainId, PageParameters};

use super::ListNotificationsResponse;

/// List notifications
///
/// Payments that artists got, newest first.
#[utoipa::path(
    get,
    path = "/notifications",
    tag = "Activity",
    params(
        ("artist" = Option<Address>, Query, description = "Whose they are."),
        ("viewed" = Option<bool>, Query, description = "`true` for viewed ones, `false` for others; both unless given."),
        ("chainId" = Option<ChainId>, Query, description = "The chain; 8453 unless given."),
        PageParameters,
    ),
    responses((status = 200, description = "The page.", body = ListNotificationsResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
fn list_notifications() {}

contract::published!(list_notifications);
