use super::ListApiKeysResponse;

/// List API keys
///
/// The signed-in artist's keys that aren't revoked, newest first, without the keys themselves.
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

contract::published!(list_api_keys);
