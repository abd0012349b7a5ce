use shared::model::{Address, ChainId, PageParameters};

use super::ListPaymentsResponse;

/// List payments
///
/// Newest first.
#[utoipa::path(
    get,
    path = "/payments",
    tag = "Activity",
    params(
        ("artist" = Option<Address>, Query, description = "Whose collections they are for."),
        ("collector" = Option<Address>, Query, description = "Who got the tokens."),
        ("chainId" = Option<ChainId>, Query, description = "The chain; 8453 unless given."),
        PageParameters,
    ),
    responses((status = 200, description = "The page.", body = ListPaymentsResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
fn list_payments() {}

contract::published!(list_payments);
