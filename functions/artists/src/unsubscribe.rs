//! Contract of `POST /mails/unsubscribe`.

use serde::Serialize;
use shared::{http::FromFields, model::UnsubscribeToken};
use utoipa::{IntoParams, ToSchema};

/// Whose mails.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct UnsubscribeQuery {
    /// What the link of the mail has.
    pub token: UnsubscribeToken,
}

#[derive(Serialize, ToSchema)]
pub struct UnsubscribeResponse {
    /// No more mails of collects and comments come.
    pub success: bool,
}

/// Stop mails of collects and comments
///
/// What a mail program's own button sends (RFC 8058); the body doesn't matter. `PATCH /artists/me` with `news_mails` has
/// them come again.
#[utoipa::path(
    post,
    path = "/mails/unsubscribe",
    tag = "Artists",
    params(UnsubscribeQuery),
    responses((status = 200, description = "They are stopped.", body = UnsubscribeResponse)),
    extensions(("x-errors" = json!([404]))),
)]
pub fn unsubscribe() {}
