use super::{SendCodeRequest, SendCodeResponse};

/// Mail a sign-in code
///
/// The code has 6 digits, is valid for 10 minutes and 5 tries, and replaces the previous one. The answer is the same for
/// known and unknown addresses. One client can send a mailbox 3 codes in 10 minutes and 10 a day, whatever `+tag` the
/// address has. With a `nonce`, only whoever has it can use the code or its tries.
#[utoipa::path(
    post,
    path = "/oauth/code",
    tag = "Sign-in",
    request_body(content = SendCodeRequest, example = json!({"email": "ada@example.com"})),
    responses((status = 200, description = "The code is on its way.", body = SendCodeResponse)),
)]
fn send_code() {}

openapi::published!(send_code, 429, 502, 503);
