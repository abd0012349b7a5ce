use super::{CreateApiKeyRequest, CreateApiKeyResponse};

/// Create an API key
///
/// The key is shown this once; only its hash is stored. An artist has at most 10 keys. The body is optional.
#[utoipa::path(
    post,
    path = "/artists/api-keys",
    tag = "API keys",
    security(("token" = [])),
    request_body(content = Option<CreateApiKeyRequest>, example = json!({"name": "my site"})),
    responses((status = 200, description = "The key.", body = CreateApiKeyResponse)),
)]
fn create_api_key() {}

openapi::published!(create_api_key, 409);
