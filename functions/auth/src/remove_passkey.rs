//! Contract of `DELETE /artists/passkeys?passkeyId=`.

use shared::{http::FromFields, model::PasskeyId};
use utoipa::IntoParams;

use crate::passkey::PasskeysResponse;

/// The passkey.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RemovePasskeyQuery {
    /// Its id, from the list of passkeys.
    #[param(rename = "passkeyId")]
    pub passkey: PasskeyId,
}

/// Remove a passkey
///
/// After a recent sign-in with a passkey at once. After one without, for whoever lost theirs, in 7 days; it is mailed, and
/// signing in with the passkey takes it back. The last way in stays, as with `DELETE /artists/wallets`.
#[utoipa::path(
    delete,
    path = "/artists/passkeys",
    tag = "Passkeys",
    security(("token" = [])),
    params(RemovePasskeyQuery),
    responses((status = 200, description = "Your passkeys.", body = PasskeysResponse)),
    extensions(("x-errors" = json!([403, 404, 409]))),
)]
pub fn remove_passkey() {}
