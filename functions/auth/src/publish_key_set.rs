//! Contract of `GET /.well-known/jwks.json`.

use utoipa::ToSchema;

/// Public keys (RFC 7517).
#[derive(ToSchema)]
#[schema(as = KeySet)]
pub struct DescribedKeys {
    pub keys: Vec<PublicKey>,
}

/// A public key of tokens (RFC 7517).
#[derive(ToSchema)]
pub struct PublicKey {
    /// Type of the key.
    #[schema(pattern = "^EC$")]
    pub kty: String,
    /// Curve of the key.
    #[schema(pattern = "^P-256$")]
    pub crv: String,
    /// First coordinate, in base64url.
    #[schema(examples("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"))]
    pub x: String,
    /// Second coordinate, in base64url.
    #[schema(examples("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))]
    pub y: String,
    /// Id of the key, which a token's head names.
    #[schema(examples("oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U"))]
    pub kid: String,
}

/// Public keys of tokens
///
/// Key set (RFC 7517) to verify a token's signature.
#[utoipa::path(
    get,
    path = "/.well-known/jwks.json",
    tag = "Sign-in",
    responses((status = 200, description = "The key set.", body = DescribedKeys, headers(
        ("cache-control" = String, description = "How long it may be kept."),
    ))),
)]
pub fn publish_key_set() {}
