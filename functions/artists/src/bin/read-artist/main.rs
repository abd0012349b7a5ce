//! `GET /artists/{address}`: an artist's profile, by any of their wallets or their username.

use artists::{profile::ArtistResponse, read_artist::ReadArtistPath};
use shared::{
    api::{error::withheld, read::Site},
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::ArtistName,
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
        let profile = self.artists.profile_named(&address).await?.ok_or_else(|| unknown(&address))?;
        if profile.is_withheld {
            return Err(withheld());
        }
        Response::public(&ArtistResponse::of(&profile, &self.site)?)
    }
}

fn unknown(artist: &ArtistName) -> ApiError {
    ApiError::not_found(match artist {
        ArtistName::Account(account) => format!("{account} is no artist's wallet"),
        ArtistName::Username(name) => format!("Nobody is called {name}"),
    })
}
