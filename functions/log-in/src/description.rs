use super::{LogInRequest, LogInResponse};

/// Sign in
///
/// Turns the newest mailed code into a token, which is valid for an hour. The first sign-in makes the artist, with an
/// account on the chain that is theirs from then on.
#[utoipa::path(
    post,
    path = "/oauth/login",
    tag = "Sign-in",
    request_body(content = LogInRequest, example = json!({"email": "ada@example.com", "code": "123456"})),
    responses((status = 200, description = "Signed in.", body = LogInResponse)),
)]
fn log_in() {}

contract::published!(log_in, 401);
