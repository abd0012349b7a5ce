//! Contract of `DELETE /artists/email`.

use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub struct KeepEmailResponse {
    /// The address stays as it is.
    pub success: bool,
}

/// Stop a change of the mail address
///
/// The present address stays. Takes any token of the artist: whoever is robbed of the account may have nothing else.
#[utoipa::path(
    delete,
    path = "/artists/email",
    tag = "Artists",
    security(("token" = [])),
    responses((status = 200, description = "The address stays.", body = KeepEmailResponse)),
    extensions(("x-errors" = json!([403, 404]))),
)]
pub fn keep_email() {}
