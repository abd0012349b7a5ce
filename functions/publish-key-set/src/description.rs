/// Public keys of tokens
///
/// The key set (RFC 7517) with which a token's signature can be checked.
#[utoipa::path(
    get,
    path = "/.well-known/jwks.json",
    tag = "Sign-in",
    responses((status = 200, description = "The key set.", body = Object, headers(("cache-control" = String, description = "How long it may be kept.")))),
)]
fn publish_key_set() {}

contract::published!(publish_key_set);
