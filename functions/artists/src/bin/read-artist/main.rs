//! `GET /artists/{address}`: an artist's profile, by any of their wallets or their username; and `GET /artists/me`: that of
//! whoever asks.

use artists::{profile::ArtistResponse, read_artist::ReadArtistPath};
use shared::{
    api::{
        error::{no_artist, withheld},
        read::Site,
    },
    auth::caller::CallerAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::ArtistName,
    store::{
        artist::{ArtistTable, Artists},
        secret::SecretTable,
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ReadArtist>().await
}

struct ReadArtist {
    callers: CallerAuthenticator,
    artists: Artists,
    site: Site,
}

impl Endpoint for ReadArtist {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            callers: CallerAuthenticator::from_env(SecretTable::from_env(&aws)?)?,
            artists: Artists::new(ArtistTable::from_env(&aws)?),
            site: Site::from_env(),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        if request.route() == "GET /artists/me" {
            let artist = self.callers.authenticate(request, clock::now()?).await?;
            let profile = self.artists.profile(artist).await?.ok_or_else(no_artist)?;
            return Response::json(&ArtistResponse::of(&profile, &self.site)?);
        }
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
