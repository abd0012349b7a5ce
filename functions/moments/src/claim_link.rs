//! Claim links as their artists see them.

use serde::Serialize;
use shared::{
    clock,
    http::ApiError,
    model::{Address, ChainId, ClaimId, MomentRef, TokenId},
    store::artist::ClaimLink,
};
use utoipa::ToSchema;

/// A moment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ClaimedMoment)]
pub struct MomentName {
    /// Its collection's contract.
    collection_address: Address,
    /// Its token.
    token_id: TokenId,
    /// Its chain.
    chain_id: ChainId,
}

/// A claim link, without its secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ClaimLink)]
pub struct ClaimLinkView {
    claim_id: ClaimId,
    moment: MomentName,
    /// Number of tokens that it gives away.
    count: u64,
    /// How many are claimed.
    claimed: u64,
    /// Most tokens that a person may claim.
    per_person: u64,
    /// When it ends.
    #[schema(format = "date-time")]
    until: String,
    /// When it was made.
    #[schema(format = "date-time")]
    created_at: String,
}

impl From<MomentRef> for MomentName {
    fn from(MomentRef { chain, collection, token }: MomentRef) -> Self {
        Self { collection_address: collection, token_id: token, chain_id: chain }
    }
}

impl TryFrom<ClaimLink> for ClaimLinkView {
    type Error = ApiError;

    fn try_from(link: ClaimLink) -> Result<Self, ApiError> {
        Ok(Self {
            claim_id: link.id,
            moment: link.moment().into(),
            count: link.count,
            claimed: link.taken,
            per_person: link.per_person,
            until: clock::iso_8601(link.until)?,
            created_at: clock::iso_8601(link.created_at)?,
        })
    }
}
