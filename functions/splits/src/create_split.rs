//! Description of `POST /splits`.

use shared::api::publish::{CreateSplitRequest, CreatedSplit};

/// Create a split
///
/// A contract that divides what it gets among fixed recipients. Its address follows from them, so the same recipients have
/// the same split: one that is there is answered without a transaction. Pay to it as `payoutRecipient` of a moment or
/// `fundsRecipient` of a sale.
#[utoipa::path(
    post,
    path = "/splits",
    tag = "Splits",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = CreateSplitRequest, example = json!({
        "splits": [
            {"address": "0x00000000000000000000000000000000000000a1", "percentAllocation": 70},
            {"address": "0x00000000000000000000000000000000000000b2", "percentAllocation": 30},
        ],
    })),
    responses((status = 200, description = "The split.", body = CreatedSplit)),
    extensions(("x-effect" = json!("write"))),
)]
pub fn create_split() {}
