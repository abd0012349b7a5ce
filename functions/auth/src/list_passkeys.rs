//! Contract of `GET /artists/passkeys`.

use crate::passkey::PasskeysResponse;

/// List passkeys
///
/// The signed-in artist's passkeys, oldest first.
#[utoipa::path(
    get,
    path = "/artists/passkeys",
    tag = "Passkeys",
    security(("token" = [])),
    responses((status = 200, description = "The passkeys.", body = PasskeysResponse)),
    extensions(("x-errors" = json!([403]))),
)]
pub fn list_passkeys() {}
