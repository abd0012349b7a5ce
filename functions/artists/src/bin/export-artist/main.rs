//! `GET /artists/me/export`: all that is kept of the artist.

use artists::export_artist::{ExportArtistQuery, ExportArtistResponse};
use shared::{
    api::error::no_artist,
    auth::session::SessionAuthenticator,
    chain::Chains,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::ChainId,
    store::{
        across::{Person, PersonalData},
        artist::{ArtistTable, Artists},
        secret::SecretTable,
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ExportArtist>().await
}

struct ExportArtist {
    sessions: SessionAuthenticator,
    artists: Artists,
    rows: PersonalData,
    chains: Vec<ChainId>,
}

impl Endpoint for ExportArtist {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let (artists, secrets) = (ArtistTable::from_env(&aws)?, SecretTable::from_env(&aws)?);
        Ok(Self {
            sessions: SessionAuthenticator::from_env(secrets.clone())?,
            artists: Artists::new(artists.clone()),
            rows: PersonalData::new(artists, secrets),
            chains: Chains::from_env()?.iter().map(|chain| chain.id).collect(),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        const LIMIT: usize = 200;
        let artist = self.sessions.authenticate_person(request).await?.artist;
        let ExportArtistQuery { after } = request.query().read()?;
        let now = clock::now()?.as_secs();
        let (profile, contact) = (self.artists.profile(artist).await?, self.artists.contact(artist, now).await?);
        let profile = profile.ok_or_else(no_artist)?;
        let wallets = profile.wallets.iter().map(|wallet| wallet.address).collect();
        let person = Person { artist, email: contact.email, wallets, chains: self.chains.clone() };
        let page = self.rows.page(&person, after.unwrap_or_default(), LIMIT).await?;
        let response = Response::json(&ExportArtistResponse { rows: page.rows })?;
        match page.next {
            Some(next) => response.with_next(request, "after", next),
            None => Ok(response),
        }
    }
}
