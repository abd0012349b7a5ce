use super::{DeleteArtistRequest, DeleteArtistResponse};

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
)]
fn delete_artist() {}

openapi::published!(delete_artist, 403, 409, 502, 503);
