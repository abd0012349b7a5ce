//! Contract of `GET /artists/me/export`.

use serde::Serialize;
use serde_json::{Map, Value};
use shared::{http::FromFields, model::ExportCursor};
use utoipa::{IntoParams, ToSchema};

/// The page.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ExportArtistQuery {
    /// Where the page begins; the first page by default.
    pub after: Option<ExportCursor>,
}

/// A page of what is kept.
#[derive(Serialize, ToSchema)]
pub struct ExportArtistResponse {
    /// Rows as they are stored, the profile first; `pk` names their kind. Only what keys and codes are checked with is
    /// left out.
    #[schema(value_type = Vec<Object>)]
    pub rows: Vec<Map<String, Value>>,
}

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
    extensions(("x-errors" = json!([403]))),
)]
pub fn export_artist() {}
