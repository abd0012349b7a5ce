//! Description of `POST /metadata`.

use shared::api::media::{MetadataRequest, StoredMedia};

/// Store a metadata document
///
/// Its `uri` is what moments and collections are created with. The same fields have the same URI.
#[utoipa::path(
    post,
    path = "/metadata",
    tag = "Media",
    security(("token" = []), ("apiKey" = [])),
    request_body(content = MetadataRequest, example = json!({
        "name": "High water",
        "description": "04:12, 3.4 metres.",
        "image": "ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
    })),
    responses((status = 200, description = "The document.", body = StoredMedia)),
    extensions(("x-body" = json!("large")), ("x-errors" = json!([429]))),
)]
pub fn create_metadata() {}
