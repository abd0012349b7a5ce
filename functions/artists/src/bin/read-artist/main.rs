//! `GET /artists/{address}`: an artist's profile, by any of their wallets.

#[cfg(test)]
mod description;

use shared::{
    api::artist::ArtistResponse,
    config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::Address,
    store::artist::{ArtistTable, Artists},
};
use utoipa::IntoParams;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ReadArtist>().await
}

struct ReadArtist {
    artists: Artists,
}

/// A wallet.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Path)]
struct ReadArtistPath {
    /// One of the artist's wallets.
    address: Address,
}

impl Endpoint for ReadArtist {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { artists: Artists::new(ArtistTable::from_env(&config::aws().await)?) })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ReadArtistPath { address } = request.path_parameters().read()?;
        let profile = self.artists.profile_of(address).await?;
        let profile = profile.ok_or_else(|| ApiError::not_found(format!("{address} is no artist's wallet")))?;
        Response::public(&ArtistResponse::of(&profile)?)
    }
}
