use super::{ExportArtistQuery, ExportArtistResponse};

/// Export what is kept of you
///
/// Everything that is stored of your account: profile and mail address, wallets, keys without their secrets, payout
/// addresses, activity, transactions, uploads, viewed notifications and sign-ins. Further pages are in the header `Link`. What
/// is on the chain is public, and not in it.
#[utoipa::path(
    get,
    path = "/artists/me/export",
    tag = "Artists",
    security(("token" = [])),
    params(ExportArtistQuery),
    responses((status = 200, description = "A page of it.", body = ExportArtistResponse)),
)]
fn export_artist() {}

openapi::published!(export_artist, 403);
