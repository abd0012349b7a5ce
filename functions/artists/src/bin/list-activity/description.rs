use super::{ListActivityQuery, ListActivityResponse};

/// List what happened to your account
///
/// Sign-ins, keys, wallets, payout addresses and withdrawals of the last 90 days, newest first.
#[utoipa::path(
    get,
    path = "/artists/activity",
    tag = "Artists",
    security(("token" = [])),
    params(ListActivityQuery),
    responses((status = 200, description = "What happened.", body = ListActivityResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
fn list_activity() {}

openapi::published!(list_activity, 403);
