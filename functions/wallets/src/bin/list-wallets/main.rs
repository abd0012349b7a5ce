//! `GET /artists/wallets`: the caller's wallets, the embedded one first.

use shared::{
    api::error::no_artist,
    auth::caller::CallerAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::{
        artist::{ArtistTable, Artists},
        secret::SecretTable,
    },
};
use wallets::WalletsResponse;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListWallets>().await
}

struct ListWallets {
    callers: CallerAuthenticator,
    artists: Artists,
}

impl Endpoint for ListWallets {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            callers: CallerAuthenticator::from_env(SecretTable::from_env(&aws)?)?,
            artists: Artists::new(ArtistTable::from_env(&aws)?),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.callers.authenticate(request, clock::now()?).await?;
        Response::json(&WalletsResponse::of(&self.artists.profile(artist).await?.ok_or_else(no_artist)?)?)
    }
}
