use super::{LogInRequest, LogInResponse};

/// Sign in
///
/// Exchanges the newest mailed code for a token, valid for an hour. A code that was asked for with a `nonce` needs it. The
/// first sign-in creates the artist and their embedded wallet.
#[utoipa::path(
    post,
    path = "/oauth/login",
    tag = "Sign-in",
    request_body(content = LogInRequest, example = json!({"email": "ada@example.com", "code": "123456"})),
    responses((status = 200, description = "Signed in.", body = LogInResponse)),
)]
fn log_in() {}

openapi::published!(log_in, 401, 429);
