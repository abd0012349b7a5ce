//! Request, answer and description of `POST /moment/hide`.

use serde::Serialize;
use shared::{http::FromFields, model::MomentRef};
use utoipa::ToSchema;

/// The moment.
#[derive(FromFields, ToSchema)]
pub struct HideMomentRequest {
    /// The moment.
    pub moment: MomentRef,
    /// Whether it is hidden from now on.
    #[schema(value_type = Option<bool>, default = true)]
    pub hidden: bool,
}

/// What holds from now on.
#[derive(Serialize, ToSchema)]
pub struct HideMomentResponse {
    pub success: bool,
    /// Whether the moment is hidden.
    pub hidden: bool,
}

/// Hide a moment
///
/// Hides a moment from timelines, or shows it again. Admins only. Nothing changes on the chain. Timelines follow within
/// seconds.
#[utoipa::path(
    post,
    path = "/moment/hide",
    tag = "Moments",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = HideMomentRequest, example = json!({
        "moment": {"collectionAddress": "0x540c18b7f99b3b599c6feb99964498931c211858", "tokenId": "1"},
        "hidden": true,
    })),
    responses((status = 200, description = "It is hidden, or shown.", body = HideMomentResponse)),
    extensions(("x-errors" = json!([403, 404]))),
)]
pub fn hide_moment() {}
