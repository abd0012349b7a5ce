use shared::{
    http::publication_form::{MomentContract, MomentToken, SplitRecipient},
    model::CheckedAddress,
};
use utoipa::{
    ToSchema,
    openapi::{ObjectBuilder, Schema, Type},
};

use super::BuildProposalResponse;

/// What is to be proposed.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is parsed elsewhere")]
struct BuildProposalBody {
    /// 1 (Ethereum) or 11155111 (Sepolia).
    #[schema(schema_with = governance_chain)]
    chain_id: u32,
    /// Who makes the proposal, and gets every right on what it publishes.
    account: CheckedAddress,
    /// Where the moments go.
    contract: MomentContract,
    /// The moments.
    #[schema(min_items = 1, max_items = 50)]
    tokens: Vec<MomentToken>,
    /// Who shares the proceeds: nobody, or at least two different recipients who get 100 percent together.
    #[schema(max_items = 100)]
    splits: Option<Vec<SplitRecipient>>,
    /// The proposal's texts.
    proposal: ProposalText,
}

fn governance_chain() -> Schema {
    ObjectBuilder::new().schema_type(Type::Integer).enum_values(Some([1, 11_155_111])).into()
}

/// What a proposal says.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is parsed elsewhere")]
struct ProposalText {
    /// What it is called, in one line.
    #[schema(min_length = 1, pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x1f\x7f-\x9f]*$")]
    title: String,
    /// What it is about, in Markdown.
    #[schema(min_length = 1)]
    description: String,
}

/// Build a proposal that publishes moments
///
/// The arguments of the governor's `propose`, which the holder of voting power then calls.
#[utoipa::path(
    post,
    path = "/governance",
    tag = "Moments",
    request_body(content = BuildProposalBody, example = json!({
        "chainId": 1,
        "account": "0x00000000000000000000000000000000000000a1",
        "contract": {
            "name": "Weather diary",
            "uri": "ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
        },
        "tokens": [{
            "tokenMetadataURI": "ar://jK9sLb1mRzUQxG6cVtYf0sPDNwqk3XeMhA5oTtWZyPI",
            "createReferral": "0x00000000000000000000000000000000000000a1",
            "salesConfig": {"type": "PartnerTimedSaleStrategy", "pricePerToken": "0", "saleStart": "0", "saleEnd": "18446744073709551615"},
            "mintToCreatorCount": 1,
        }],
        "proposal": {"title": "Mint the diary", "description": "So that it is there for all."},
    })),
    responses((status = 200, description = "What to call.", body = BuildProposalResponse)),
)]
fn build_proposal() {}

contract::published!(build_proposal, 404, 422, 429, 502, 503);
