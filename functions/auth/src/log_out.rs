//! Contract of `POST /oauth/logout`.

use serde::Serialize;
use shared::http::{Field, FromField, FromFields};
use utoipa::ToSchema;

/// What to end.
#[derive(FromFields, ToSchema)]
pub struct LogOutRequest {
    /// End all of the artist's tokens, not only this one.
    #[schema(value_type = Option<bool>, default = json!(false))]
    pub everywhere: Everywhere,
}

/// False unless given.
pub struct Everywhere(pub bool);

#[derive(Serialize, ToSchema)]
pub struct LogOutResponse {
    /// The token is ended.
    pub success: bool,
}

impl FromField for Everywhere {
    fn from_field(field: &Field<'_>) -> Option<Self> {
        field.boolean().map(Self)
    }
}

/// Sign out
///
/// Ends the token in the request or, with `everywhere`, all tokens of the artist. API keys keep working.
#[utoipa::path(
    post,
    path = "/oauth/logout",
    tag = "Sign-in",
    security(("token" = [])),
    request_body(content = Option<LogOutRequest>, example = json!({"everywhere": true})),
    responses((status = 200, description = "Signed out.", body = LogOutResponse)),
)]
pub fn log_out() {}
