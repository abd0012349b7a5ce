//! Contract of `GET /artists/requests?keyId=`.

use serde::Serialize;
use shared::{
    clock,
    http::{ApiError, FromFields},
    model::{KeyId, PageLimit},
    store::secret::KeyRequest,
};
use utoipa::{IntoParams, ToSchema};

/// The key.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListKeyRequestsQuery {
    /// Its id, from the list of keys; that of a revoked one, too.
    #[param(rename = "keyId")]
    pub key: KeyId,
    /// Most requests.
    #[param(default = 20, required = false)]
    pub limit: PageLimit,
}

/// Requests, newest first.
#[derive(Serialize, ToSchema)]
pub struct ListKeyRequestsResponse {
    pub requests: Vec<LoggedRequest>,
}

/// A request with the key, and its answer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoggedRequest {
    /// When it was answered, ISO 8601.
    pub at: String,
    /// What the answer had as `x-request-id`.
    pub request_id: String,
    /// Method and pattern of the path.
    #[schema(examples("POST /moment/collect"))]
    pub route: String,
    /// HTTP status of the answer.
    #[schema(minimum = 100, maximum = 599)]
    pub status: u16,
    /// Message of an error; null for a success.
    #[schema(required = true)]
    pub message: Option<String>,
    /// Time until the answer, in milliseconds.
    pub duration_ms: u64,
    /// Requests just before it that weren't kept, since the key was sent often.
    pub skipped: u32,
}

/// List requests of an API key
///
/// What a program did with a key: its last requests, at most 100, of at most a week, with status and error. Of a key that is
/// sent often a process keeps one every two seconds, and counts the others. Reads that need no key aren't listed.
#[utoipa::path(
    get,
    path = "/artists/requests",
    tag = "API keys",
    security(("token" = [])),
    params(ListKeyRequestsQuery),
    responses((status = 200, description = "The requests.", body = ListKeyRequestsResponse)),
)]
pub fn list_key_requests() {}

impl TryFrom<KeyRequest> for LoggedRequest {
    type Error = ApiError;

    fn try_from(request: KeyRequest) -> Result<Self, ApiError> {
        let KeyRequest { at, request_id, route, status, message, duration, skipped } = request;
        Ok(Self {
            at: clock::iso_8601(at / 1000)?,
            request_id,
            route,
            status,
            message: Some(message).filter(|message| !message.is_empty()),
            duration_ms: duration,
            skipped,
        })
    }
}
