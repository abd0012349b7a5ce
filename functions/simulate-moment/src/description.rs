use shared::http::publication_form::CreateMomentRequest;

use super::SimulateMomentResponse;

/// Rehearse creating a moment
///
/// What `POST /moment/create` would come to as things are now, with nothing sent and nothing kept.
#[utoipa::path(
    post,
    path = "/moment/create/simulate",
    tag = "Moments",
    security(("apiKey" = [])),
    request_body(content = CreateMomentRequest, example = json!({
        "contract": {
            "name": "Weather diary",
            "uri": "ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
        },
        "token": {
            "tokenMetadataURI": "ar://jK9sLb1mRzUQxG6cVtYf0sPDNwqk3XeMhA5oTtWZyPI",
            "salesConfig": {"type": "timed", "pricePerToken": "0", "saleStart": 0, "saleEnd": 0},
        },
    })),
    responses((status = 200, description = "It would work.", body = SimulateMomentResponse)),
)]
fn simulate_moment() {}

contract::published!(simulate_moment, 402, 403, 404, 422, 502, 503);
