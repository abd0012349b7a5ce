//! Contract of `GET /moment/claims`.

use serde::Serialize;
use shared::{
    http::FromFields,
    model::{Address, ChainId, TokenId},
    store::artist::ClaimLink,
};
use utoipa::{IntoParams, ToSchema};

use crate::claim_link::ClaimLinkView;

/// Which links; all by default.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct ListClaimLinksQuery {
    /// Those of this collection's moments.
    pub collection_address: Option<Address>,
    /// Those of moments that are this token.
    pub token_id: Option<TokenId>,
    /// Those on this chain.
    pub chain_id: Option<ChainId>,
}

impl ListClaimLinksQuery {
    /// Whether a link is asked for.
    pub fn names(&self, link: &ClaimLink) -> bool {
        self.collection_address.is_none_or(|collection| collection == link.collection)
            && self.token_id.is_none_or(|token| token == link.token_id)
            && self.chain_id.is_none_or(|chain| chain == link.chain_id)
    }
}

#[derive(Serialize, ToSchema)]
pub struct ListClaimLinksResponse {
    /// The newest first.
    pub claims: Vec<ClaimLinkView>,
}

/// List your claim links
///
/// Without their secrets, and with how many tokens are claimed. Links go from the list 30 days after their end.
#[utoipa::path(
    get,
    path = "/moment/claims",
    tag = "Moments",
    security(("apiKey" = []), ("token" = [])),
    params(ListClaimLinksQuery),
    responses((status = 200, description = "The links.", body = ListClaimLinksResponse, links(
        ("DeleteNewest" = (operation_id = "delete_claim_link", parameters(("claimId" = "$response.body#/claims/0/claimId")))),
    ))),
)]
pub fn list_claim_links() {}
