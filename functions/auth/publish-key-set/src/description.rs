/// Public keys of tokens
///
/// Key set (RFC 7517) to verify a token's signature.
#[utoipa::path(
    get,
    path = "/.well-known/jwks.json",
    tag = "Sign-in",
    responses((status = 200, description = "The key set.", body = Object, headers(("cache-control" = String, description = "How long it may be kept.")))),
)]
fn publish_key_set() {}

openapi::published!(publish_key_set);
