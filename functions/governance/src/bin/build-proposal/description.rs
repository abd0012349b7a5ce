use super::{BuildProposalRequest, BuildProposalResponse};

/// Build a proposal that publishes moments
///
/// Returns the arguments of the governor's `propose` for a holder of voting power to call.
#[utoipa::path(
    post,
    path = "/governance",
    tag = "Moments",
    request_body(content = BuildProposalRequest, description = "At most 256 KiB.", example = json!({
        "chainId": 1,
        "account": "0x00000000000000000000000000000000000000a1",
        "contract": shared::api::publish::example::new_contract(),
        "tokens": [{
            "tokenMetadataURI": "ar://jK9sLb1mRzUQxG6cVtYf0sPDNwqk3XeMhA5oTtWZyPI",
            "createReferral": "0x00000000000000000000000000000000000000a1",
            "salesConfig": {"type": "PartnerTimedSaleStrategy", "pricePerToken": "0", "saleStart": "0", "saleEnd": "18446744073709551615"},
            "mintToCreatorCount": 1,
        }],
        "proposal": {"title": "Mint the diary", "description": "So that it is there for all."},
    })),
    responses((status = 200, description = "The call.", body = BuildProposalResponse)),
)]
fn build_proposal() {}

openapi::published!(build_proposal, 404, 422, 429, 502, 503);
