//! Request, answer and description of `POST /moment/refresh`.

use serde::Serialize;
use shared::{http::FromFields, model::MomentRef};
use utoipa::ToSchema;

/// The moment.
#[derive(FromFields, ToSchema)]
pub struct RefreshMomentRequest {
    /// The moment.
    pub moment: MomentRef,
}

/// What becomes of it.
#[derive(Serialize, ToSchema)]
pub struct RefreshMomentResponse {
    pub success: bool,
    /// Whether its document is read again: not one that can't change, nor one that was asked for within ten minutes or
    /// whose host or collection was 360 times within an hour.
    pub queued: bool,
}

/// Read a moment's document again
///
/// Asks for the moment's metadata to be read again, as after a change at an `https:` address or where it couldn't be
/// read. Anybody may; no sign-in. Where the moment's `URI` is set anew, that happens by itself.
#[utoipa::path(
    post,
    path = "/moment/refresh",
    tag = "Moments",
    request_body(content = RefreshMomentRequest, example = json!({
        "moment": {"collectionAddress": "0x540c18b7f99b3b599c6feb99964498931c211858", "tokenId": "1"},
    })),
    responses((status = 202, description = "What becomes of it.", body = RefreshMomentResponse)),
    extensions(("x-errors" = json!([404, 429, 451]))),
)]
pub fn refresh_moment() {}
