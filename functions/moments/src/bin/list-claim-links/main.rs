//! `GET /moment/claims`: an artist's claim links, without their secrets.

use moments::list_claim_links::{ListClaimLinksQuery, ListClaimLinksResponse};
use shared::{
    auth::caller::CallerAuthenticator,
    clock,
    config::{self, StartError},
    http::{AnyChain, ApiError, Endpoint, Request, Response, serve},
    store::{
        artist::{ArtistTable, Claims},
        secret::SecretTable,
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListClaimLinks>().await
}

struct ListClaimLinks {
    callers: CallerAuthenticator,
    claims: Claims,
}

impl Endpoint for ListClaimLinks {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            callers: CallerAuthenticator::from_env(SecretTable::from_env(&aws)?)?,
            claims: Claims::new(ArtistTable::from_env(&aws)?),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.callers.authenticate(request, clock::now()?).await?;
        let query: ListClaimLinksQuery = request.query().read_for(&AnyChain)?;
        let links = self.claims.list(artist).await?.into_iter().filter(|link| query.names(link));
        Response::json(&ListClaimLinksResponse { claims: links.map(TryInto::try_into).collect::<Result<_, _>>()? })
    }
}
