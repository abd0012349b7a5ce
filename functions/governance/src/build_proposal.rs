//! Contract of `POST /governance`.

use std::str::FromStr;

use alloy::primitives::Bytes;
use serde::Serialize;
use shared::{
    api::publish::{MomentContract, MomentToken, SplitRecipient, Splits, example::new_contract},
    http::{FromFields, Scalar},
    model::{Address, ChainId, CheckedAddress, Invalid, NewMoment, TargetCollection},
};
use utoipa::{
    ToSchema,
    openapi::{ArrayBuilder, ObjectBuilder, Schema, Type, schema::AnyOfBuilder},
};

/// A proposal, and what it publishes.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct BuildProposalRequest {
    /// 1 (Ethereum) or 11155111 (Sepolia).
    #[schema(schema_with = governance_chain)]
    pub chain_id: ChainId,
    /// Proposer, who gets every right on what is published.
    pub account: CheckedAddress,
    /// Where the moments go.
    #[schema(value_type = MomentContract)]
    pub contract: TargetCollection,
    /// The moments.
    #[schema(value_type = Vec<MomentToken>, min_items = 1, max_items = 50)]
    pub tokens: Vec<NewMoment>,
    /// Recipients of the proceeds: none, or at least two different ones with 100 percent together.
    #[schema(value_type = Option<Vec<SplitRecipient>>, max_items = 100)]
    pub splits: Splits,
    /// The proposal's texts.
    pub proposal: ProposalText,
}

fn governance_chain() -> Schema {
    ObjectBuilder::new().schema_type(Type::Integer).enum_values(Some([1, 11_155_111])).into()
}

/// The texts of a proposal.
#[derive(FromFields, ToSchema)]
pub struct ProposalText {
    /// Title, in one line.
    #[schema(value_type = String, min_length = 1, pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x1f\x7f-\x9f]*$")]
    title: Title,
    /// Description, in Markdown.
    #[schema(value_type = String, min_length = 1)]
    description: Description,
}

impl ProposalText {
    /// The description as governors take it: a heading and a text.
    pub fn markdown(&self) -> String {
        format!("# {}\n\n{}", self.title.0, self.description.0)
    }
}

/// A heading, so one line.
struct Title(String);

impl Scalar for Title {}

impl FromStr for Title {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        // The last two are line breaks without being control characters.
        if text.contains(|character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')) {
            return Err(Invalid("must be one line, without control characters"));
        }
        not_blank(text).map(Self)
    }
}

/// Markdown.
struct Description(String);

impl Scalar for Description {}

impl FromStr for Description {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        not_blank(text).map(Self)
    }
}

fn not_blank(text: &str) -> Result<String, Invalid> {
    if text.trim().is_empty() { Err(Invalid("must not be empty")) } else { Ok(text.to_owned()) }
}

/// A call of a governor.
#[derive(Serialize, ToSchema)]
pub struct BuildProposalResponse<'a> {
    /// The contract to call `propose` on.
    pub governor: Address,
    #[schema(schema_with = propose_arguments)]
    pub args: ProposeArguments<'a>,
    /// Wei to send with the call.
    #[schema(pattern = "^0$")]
    pub value: &'static str,
}

/// The arguments of `propose`: targets, values, signatures, calldatas and description.
pub type ProposeArguments<'a> = (Vec<Address>, Vec<String>, Vec<&'a str>, Vec<Bytes>, &'a str);

fn propose_arguments() -> ArrayBuilder {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let list = || Schema::Array(ArrayBuilder::new().items(text()).build());
    let parts = [list(), list(), list(), list(), Schema::Object(text().build())];
    let description = "Its arguments: targets, values, signatures, calldatas and description.";
    let tuple = ArrayBuilder::new().prefix_items(parts).items(AnyOfBuilder::new().item(list()).item(text()));
    tuple.min_items(Some(5)).max_items(Some(5)).description(Some(description))
}

/// Build a proposal that publishes moments
///
/// Returns the arguments of the governor's `propose` for a holder of voting power to call.
#[utoipa::path(
    post,
    path = "/governance",
    tag = "Moments",
    request_body(content = BuildProposalRequest, example = json!({
        "chainId": 1,
        "account": "0x00000000000000000000000000000000000000a1",
        "contract": new_contract(),
        "tokens": [{
            "tokenMetadataURI": "ar://jK9sLb1mRzUQxG6cVtYf0sPDNwqk3XeMhA5oTtWZyPI",
            "createReferral": "0x00000000000000000000000000000000000000a1",
            "salesConfig": {
                "type": "PartnerTimedSaleStrategy",
                "pricePerToken": "0",
                "saleStart": "0",
                "saleEnd": "18446744073709551615",
            },
            "mintToCreatorCount": 1,
        }],
        "proposal": {"title": "Mint the diary", "description": "So that it is there for all."},
    })),
    responses((status = 200, description = "The call.", body = BuildProposalResponse, example = json!({
        "governor": "0x6f3e6272a167e8accb32072d08e0957f9c79223d",
        "args": [
            ["0x2bf5ebeeb028d5f9e02f0f432ebb1a192f5528f1"],
            ["0"],
            ["createContract(string,string,(uint32,uint32,address),address,bytes[])"],
            ["0x00000000000000000000000000000000000000000000000000000000000000a0"],
            "# Mint the diary\n\nSo that it is there for all.",
        ],
        "value": "0",
    }))),
    extensions(("x-body" = json!("large")), ("x-errors" = json!([404, 422, 429, 502, 503]))),
)]
pub fn build_proposal() {}
