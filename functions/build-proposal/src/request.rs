use std::str::FromStr;

use shared::{
    http::{ApiError, Fields, MAX_MOMENTS_BYTES, Request},
    model::{Address, ChainId, CheckedAddress, Invalid, NewMoment, Split, TargetCollection},
};

use crate::governance::{Governance, Governances};

/// The body of the request: `{chainId, account, contract, tokens, splits?, proposal}`.
pub struct BuildProposalRequest<'a> {
    /// `chainId`: 1 or 11155111.
    pub governance: &'a Governance,
    /// `account`: who makes the proposal, and gets every right on what it publishes.
    pub account: Address,
    /// `contract`: where the moments go.
    pub target: TargetCollection,
    /// `tokens`: 1 to 50 moments.
    pub moments: Vec<NewMoment>,
    /// `splits`: who shares the proceeds.
    pub split: Option<Split>,
    /// `proposal`: `{title, description}`, as the governor takes them: a heading and a text.
    pub description: String,
}

impl<'a> BuildProposalRequest<'a> {
    pub fn parse(request: &Request, governances: &'a Governances) -> Result<Self, ApiError> {
        let mut fields = request.json_of(MAX_MOMENTS_BYTES)?;
        let governance = governance(&mut fields, governances);
        let account = fields.required::<CheckedAddress>("account");
        let target = fields.target_collection();
        let moments = fields.new_moments();
        let split = fields.split();
        let description = fields.object("proposal").and_then(|mut proposal| description(&mut proposal));
        fields.finish(|| {
            Some(Self {
                governance: governance?,
                account: account?.0,
                target: target?,
                moments: moments?,
                split: split?,
                description: description?,
            })
        })
    }
}

fn governance<'a>(fields: &mut Fields, governances: &'a Governances) -> Option<&'a Governance> {
    let ProposalChain(chain) = fields.required_number("chainId")?;
    governances.get(chain).map_err(|error| fields.refuse("chainId", error)).ok()
}

fn description(proposal: &mut Fields) -> Option<String> {
    let title = proposal.required::<Title>("title");
    let description = proposal.required::<Description>("description");
    Some(format!("# {}\n\n{}", title?.0, description?.0))
}

/// A chain that proposals can be made for.
struct ProposalChain(ChainId);

impl FromStr for ProposalChain {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.parse()? {
            chain @ ChainId(1 | 11_155_111) => Ok(Self(chain)),
            _ => Err(Invalid("must be 1 (Ethereum) or 11155111 (Sepolia)")),
        }
    }
}

/// What a proposal is called: a heading, so one line.
struct Title(String);

impl FromStr for Title {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        // The last two are the line breaks that aren't control characters.
        if text.contains(|character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')) {
            return Err(Invalid("must be one line, without control characters"));
        }
        not_blank(text).map(Self)
    }
}

/// What a proposal says of itself, in Markdown.
struct Description(String);

impl FromStr for Description {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        not_blank(text).map(Self)
    }
}

fn not_blank(text: &str) -> Result<String, Invalid> {
    if text.trim().is_empty() { Err(Invalid("must not be empty")) } else { Ok(text.to_owned()) }
}
