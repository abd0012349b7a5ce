//! What endpoints that take files have in common.

use super::library::MediaLibrary;
use crate::{
    api::error::require_active,
    auth::caller::CallerAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, Request},
    model::{ArtistId, Scope},
    store::{
        artist::{ArtistTable, Artists, Profile},
        secret::SecretTable,
    },
};

/// Keeps files for artists.
pub struct MediaService {
    /// Where they are kept.
    pub library: MediaLibrary,
    callers: CallerAuthenticator,
    artists: Artists,
}

impl MediaService {
    /// Reads what [`MediaLibrary`] and [`CallerAuthenticator`] read.
    pub async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let callers = CallerAuthenticator::from_env(SecretTable::from_env(&aws)?)?;
        let artists = ArtistTable::from_env(&aws)?;
        Ok(Self {
            callers,
            artists: Artists::new(artists.clone().eventually_consistent()),
            library: MediaLibrary::from_env(&aws, artists)?,
        })
    }

    /// The artist who may store files; 401 or 403 for others. One read besides.
    pub async fn authenticate(&self, request: &Request) -> Result<ArtistId, ApiError> {
        Ok(self.profile(request).await?.artist.artist_id)
    }

    /// The same with all of the profile.
    pub async fn profile(&self, request: &Request) -> Result<Profile, ApiError> {
        require_active(&self.artists, self.identify(request).await?).await
    }

    /// The artist whose files they are, suspended or not; 401 or 403 for others.
    pub async fn identify(&self, request: &Request) -> Result<ArtistId, ApiError> {
        Ok(self.callers.authenticate_for(request, Scope::Publish, clock::now()?).await?.artist)
    }
}
