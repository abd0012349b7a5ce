//! `GET /artists/{address}`: an artist's profile, by any of their wallets.

use artists::{profile::ArtistResponse, read_artist::ReadArtistPath};
use shared::{
    api::read::Site,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::artist::{ArtistTable, Artists},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ReadArtist>().await
}

struct ReadArtist {
    artists: Artists,
    site: Site,
}

impl Endpoint for ReadArtist {
    async fn from_env() -> Result<Self, StartError> {
        let artists = ArtistTable::from_env(&config::aws().await)?;
        Ok(Self { artists: Artists::new(artists), site: Site::from_env() })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ReadArtistPath { address } = request.path_parameters().read()?;
        let profile = self.artists.profile_of(address).await?;
        let profile = profile.ok_or_else(|| ApiError::not_found(format!("{address} is no artist's wallet")))?;
        Response::public(&ArtistResponse::of(&profile, &self.site)?)
    }
}
