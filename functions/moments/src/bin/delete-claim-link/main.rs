//! `DELETE /moment/claims?claimId=`: ends a claim link, at once.

use moments::delete_claim_link::{DeleteClaimLinkQuery, DeleteClaimLinkResponse};
use shared::{
    auth::caller::CallerAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::Scope,
    store::{
        artist::{ArtistTable, Claims},
        secret::SecretTable,
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<DeleteClaimLink>().await
}

struct DeleteClaimLink {
    callers: CallerAuthenticator,
    claims: Claims,
}

impl Endpoint for DeleteClaimLink {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            callers: CallerAuthenticator::from_env(SecretTable::from_env(&aws)?)?,
            claims: Claims::new(ArtistTable::from_env(&aws)?),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.callers.authenticate_for(request, Scope::Publish, clock::now()?).await?.artist;
        let DeleteClaimLinkQuery { claim } = request.query().read()?;
        if !self.claims.delete(artist, claim).await? {
            return Err(ApiError::not_found("You have no claim link with this id"));
        }
        Response::json(&DeleteClaimLinkResponse { success: true })
    }
}
