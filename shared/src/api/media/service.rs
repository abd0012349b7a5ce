//! What endpoints that take files have in common.

use super::library::MediaLibrary;
use crate::{
    auth::caller::CallerAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, Request},
    model::{ArtistId, Scope},
    store::{artist::ArtistTable, secret::SecretTable},
};

/// Keeps files for artists.
pub struct MediaService {
    /// Where they are kept.
    pub library: MediaLibrary,
    callers: CallerAuthenticator,
}

impl MediaService {
    /// Reads what [`MediaLibrary`] and [`CallerAuthenticator`] read.
    pub async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let callers = CallerAuthenticator::from_env(SecretTable::from_env(&aws)?)?;
        Ok(Self { callers, library: MediaLibrary::from_env(&aws, ArtistTable::from_env(&aws)?)? })
    }

    /// The artist who may store files; 401 or 403 for others.
    pub async fn authenticate(&self, request: &Request) -> Result<ArtistId, ApiError> {
        Ok(self.callers.authenticate_for(request, Scope::Publish, clock::now()?).await?.artist)
    }
}
