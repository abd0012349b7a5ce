//! What acts for an artist: tokens, API keys and known devices.

use std::time::Duration;

use super::token::LIFETIME;
use crate::{
    model::ArtistId,
    store::{
        StoreError,
        artist::{ArtistTable, Artists},
        secret::{ApiKeys, Devices, SecretTable, Sessions},
    },
};

/// The credentials of all artists.
pub struct Credentials {
    artists: Artists,
    keys: ApiKeys,
    devices: Devices,
    sessions: Sessions,
}

impl Credentials {
    /// Uses both tables.
    pub fn new(artists: ArtistTable, secrets: SecretTable) -> Self {
        Self {
            artists: Artists::new(artists),
            keys: ApiKeys::new(secrets.clone()),
            devices: Devices::new(secrets.clone()),
            sessions: Sessions::new(secrets),
        }
    }

    /// Ends an artist's tokens, and if asked for, API keys and devices. What lasts goes first: if that fails, it can be
    /// repeated with a token.
    pub async fn end_all(
        &self,
        artist: ArtistId,
        api_keys: bool,
        devices: bool,
        now: Duration,
    ) -> Result<(), StoreError> {
        if api_keys {
            self.keys.revoke_all(artist).await?;
        }
        if devices && let Some(email) = self.artists.contact(artist, now.as_secs()).await?.email {
            self.devices.forget_all(&email).await?;
        }
        self.sessions.end_all(artist, (now + LIFETIME).as_secs()).await
    }
}
