use super::{LogOutRequest, LogOutResponse};

/// Sign out
///
/// Ends the token that it is asked with, or with `everywhere` all of the artist's tokens. API keys go on working.
#[utoipa::path(
    post,
    path = "/oauth/logout",
    tag = "Sign-in",
    security(("token" = [])),
    request_body(content = Option<LogOutRequest>, example = json!({"everywhere": true})),
    responses((status = 200, description = "Signed out.", body = LogOutResponse)),
)]
fn log_out() {}

openapi::published!(log_out);
