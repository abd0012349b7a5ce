use super::{LogOutRequest, LogOutResponse};

/// Sign out
///
/// Ends the token in the request or, with `everywhere`, all tokens of the artist. API keys go on working.
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
