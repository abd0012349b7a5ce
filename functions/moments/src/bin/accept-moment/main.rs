//! `POST /moment/accept`: takes over what another account made in the artist's name.

use moments::accept_moment::{AcceptMomentRequest, AcceptMomentResponse, AcceptedCollection};
use shared::{
    api::error::{no_artist, refuse_suspended, require_active},
    auth::caller::CallerAuthenticator,
    chain::Chains,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{ArtistId, Scope},
    store::{
        artist::{AcceptanceRefusal, ArtistTable, Artists, MAX_ACCEPTED_SENDERS},
        chain::{ChainTable, Moments},
        secret::SecretTable,
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<AcceptMoment>().await
}

struct AcceptMoment {
    callers: CallerAuthenticator,
    chains: Chains,
    moments: Moments,
    artists: Artists,
}

impl AcceptMoment {
    /// Five reads and a transaction.
    async fn accept_collection(
        &self,
        artist: ArtistId,
        AcceptedCollection { collection_address, chain_id }: AcceptedCollection,
        now: u64,
    ) -> Result<Option<AcceptanceRefusal>, ApiError> {
        let (collection, profile) =
            tokio::try_join!(self.moments.collection(chain_id, collection_address), self.artists.profile(artist))?;
        let collection = collection.ok_or_else(|| ApiError::not_found("No such collection is indexed"))?;
        let profile = profile.ok_or_else(no_artist)?;
        refuse_suspended(profile.suspension, now)?;
        let own: Vec<_> = profile.wallets_anywhere().collect();
        Ok(self.artists.accept_collection(artist, &own, &collection, now).await?)
    }
}

impl Endpoint for AcceptMoment {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            callers: CallerAuthenticator::from_env(SecretTable::from_env(&aws)?)?,
            chains: Chains::from_env()?,
            moments: Moments::new(ChainTable::from_env(&aws)?),
            artists: Artists::new(ArtistTable::from_env(&aws)?),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let artist = self.callers.authenticate_for(request, Scope::Publish, now).await?.artist;
        let refusal = match request.json()?.read_for(&self.chains)? {
            AcceptMomentRequest { collection: Some(collection), sender: None } => {
                self.accept_collection(artist, collection, now.as_secs()).await?
            }
            AcceptMomentRequest { collection: None, sender: Some(sender) } => {
                require_active(&self.artists, artist).await?;
                self.artists.accept_sender(artist, sender).await?
            }
            _ => return Err(ApiError::invalid_field("collection", "is required, or sender in its place")),
        };
        match refusal {
            None => Response::json(&AcceptMomentResponse { success: true }),
            Some(AcceptanceRefusal::NotNamed) => {
                Err(ApiError::forbidden("Nobody else made this collection in the name of a wallet of yours"))
            }
            Some(AcceptanceRefusal::TooMany) => {
                Err(ApiError::conflict(format!("You accepted {MAX_ACCEPTED_SENDERS} accounts, which are the most")))
            }
        }
    }
}
