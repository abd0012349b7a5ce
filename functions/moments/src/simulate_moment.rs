//! Answer and description of `POST /moment/create/simulate`.

use serde::Serialize;
use shared::api::publish::CreateMomentRequest;
use utoipa::ToSchema;

/// What a creation would take.
#[derive(Serialize, ToSchema)]
pub struct SimulateMomentResponse {
    /// The creation would succeed now.
    pub success: bool,
    /// Gas limit of its transaction.
    pub gas: u64,
}

/// Simulate creating a moment
///
/// Runs the checks of `POST /moment/create` against the chain's current state; nothing is sent or stored.
#[utoipa::path(
    post,
    path = "/moment/create/simulate",
    tag = "Moments",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = CreateMomentRequest, example = json!({
        "contract": shared::api::publish::example::new_contract(),
        "token": {
            "tokenMetadataURI": "ar://jK9sLb1mRzUQxG6cVtYf0sPDNwqk3XeMhA5oTtWZyPI",
            "salesConfig": {"type": "timed", "pricePerToken": "0", "saleStart": 0, "saleEnd": 0},
        },
    })),
    responses((status = 200, description = "The creation would succeed.", body = SimulateMomentResponse)),
    extensions(("x-body" = json!("large")), ("x-errors" = json!([402, 403, 404, 422, 429, 502, 503]))),
)]
pub fn simulate_moment() {}
