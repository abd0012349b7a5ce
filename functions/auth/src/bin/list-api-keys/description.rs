use super::ListApiKeysResponse;

/// List API keys
///
/// The signed-in artist's live keys, newest first, without the secrets.
#[utoipa::path(
    get,
    path = "/artists/api-keys",
    tag = "API keys",
    security(("token" = [])),
    responses((status = 200, description = "The keys.", body = ListApiKeysResponse, links(
        ("RevokeNewest" = (operation_id = "revoke_api_key", parameters(("keyId" = "$response.body#/keys/0/id")))),
    ))),
)]
fn list_api_keys() {}

openapi::published!(list_api_keys);
