use shared::api::transact::SentTransaction;

use super::DistributeSplitRequest;

/// Pay out a split
///
/// Pays what is in a split to its recipients. Anyone may ask for it. A remainder that can't be divided stays in it.
#[utoipa::path(
    post,
    path = "/splits/distribute",
    tag = "Splits",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = DistributeSplitRequest, example = json!({
        "splitAddress": "0x540c18b7f99b3b599c6feb99964498931c211858",
        "currency": "USDC",
    })),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
)]
fn distribute_split() {}

openapi::published!(distribute_split writes, 404);
