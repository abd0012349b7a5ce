//! Contract of `POST /oauth/logout`.

use serde::Serialize;
use shared::{
    http::{ApiError, FromFields},
    model::SessionId,
};
use utoipa::ToSchema;

/// What to end; by default the token of the request.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct LogOutRequest {
    /// Another session of the artist, by its id at `GET /artists/activity`.
    pub session_id: Option<SessionId>,
    /// End all of the artist's tokens.
    #[schema(value_type = Option<bool>, default = json!(false))]
    pub everywhere: bool,
    /// With `everywhere`: revoke all API keys.
    #[schema(value_type = Option<bool>, default = json!(false))]
    pub api_keys: bool,
    /// With `everywhere`: forget all devices.
    #[schema(value_type = Option<bool>, default = json!(false))]
    pub devices: bool,
}

/// What a request ends.
pub enum SignOut {
    /// Its own token.
    Own,
    /// Another token.
    Other(SessionId),
    /// All tokens, and what else.
    Everywhere { api_keys: bool, devices: bool },
}

impl LogOutRequest {
    /// What to end; 400 for fields that exclude each other.
    pub fn sign_out(self) -> Result<SignOut, ApiError> {
        let Self { session_id, everywhere, api_keys, devices } = self;
        match session_id {
            Some(_) if everywhere => {
                Err(ApiError::invalid_field("sessionId", "must not be there with everywhere: that ends all tokens"))
            }
            _ if (api_keys || devices) && !everywhere => Err(ApiError::invalid_field(
                if api_keys { "apiKeys" } else { "devices" },
                "needs everywhere: true, or it would do nothing",
            )),
            Some(token) => Ok(SignOut::Other(token)),
            None if everywhere => Ok(SignOut::Everywhere { api_keys, devices }),
            None => Ok(SignOut::Own),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub struct LogOutResponse {
    /// It is ended.
    pub success: bool,
}

/// Sign out
///
/// Ends the token in the request, another by `sessionId` or, with `everywhere`, all tokens of the artist: also API keys and
/// known devices where the request says so, which go on working otherwise.
#[utoipa::path(
    post,
    path = "/oauth/logout",
    tag = "Sign-in",
    security(("token" = [])),
    request_body(content = Option<LogOutRequest>, example = json!({"everywhere": true, "apiKeys": true})),
    responses((status = 200, description = "Signed out.", body = LogOutResponse)),
    extensions(("x-errors" = json!([404]))),
)]
pub fn log_out() {}
