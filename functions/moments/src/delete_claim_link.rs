//! Contract of `DELETE /moment/claims?claimId=`.

use serde::Serialize;
use shared::{http::FromFields, model::ClaimId};
use utoipa::{IntoParams, ToSchema};

/// The link.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeleteClaimLinkQuery {
    /// Its id.
    #[param(rename = "claimId")]
    pub claim: ClaimId,
}

#[derive(Serialize, ToSchema)]
pub struct DeleteClaimLinkResponse {
    /// The link gives nothing more away.
    pub success: bool,
}

/// Delete a claim link
///
/// Takes effect at once. What was claimed stays with those who claimed it.
#[utoipa::path(
    delete,
    path = "/moment/claims",
    tag = "Moments",
    security(("apiKey" = []), ("token" = [])),
    params(DeleteClaimLinkQuery),
    responses((status = 200, description = "The link is deleted.", body = DeleteClaimLinkResponse)),
    extensions(("x-errors" = json!([403, 404]))),
)]
pub fn delete_claim_link() {}
