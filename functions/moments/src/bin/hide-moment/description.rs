use super::{HideMomentRequest, HideMomentResponse};

/// Hide a moment
///
/// Leaves it out of timelines, or shows it again. For its admins; the chain isn't changed. Timelines follow within seconds.
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
)]
fn hide_moment() {}

openapi::published!(hide_moment, 403, 404);
