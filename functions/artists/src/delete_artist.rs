//! Contract of `DELETE /artists/me`.

use serde::Serialize;
use shared::http::FromFields;
use utoipa::ToSchema;

/// What to do with money.
#[derive(FromFields, ToSchema)]
pub struct DeleteArtistRequest {
    /// Erase the account although it holds money, which nobody can get at afterwards.
    #[schema(value_type = Option<bool>, default = json!(false))]
    pub abandon: bool,
}

/// The account is to be erased.
#[derive(Serialize, ToSchema)]
pub struct DeleteArtistResponse {
    /// True: all sessions are ended.
    pub success: bool,
    /// When it is erased; signing in before keeps it: ISO 8601.
    pub erased_after: String,
}

/// Delete your account
///
/// Needs a sign-in within 15 minutes. All tokens end, and a mail tells of it. Signing in within 7 days takes it back; after
/// that, mail address, profile, wallets, keys, sessions, activity and transactions are erased, and the name is free. What is on
/// the chain stays there: moments, comments and payments, without your name. Answers 409 while there is money in the account,
/// unless `abandon` is true; other tokens aren't looked for.
#[utoipa::path(
    delete,
    path = "/artists/me",
    tag = "Artists",
    security(("token" = [])),
    request_body(content = Option<DeleteArtistRequest>, example = json!({"abandon": false})),
    responses((status = 200, description = "When it is erased.", body = DeleteArtistResponse)),
    extensions(("x-errors" = json!([403, 409, 502, 503]))),
)]
pub fn delete_artist() {}
