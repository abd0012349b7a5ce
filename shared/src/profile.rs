//! What every endpoint that shows an artist, or an artist's wallets, answers.

use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    clock,
    http::ApiError,
    model::{Address, ArtistId, Wallet},
    store::Profile,
};

/// An artist as they show themselves. Texts are as the artist gave them, and empty where they gave none.
#[derive(Serialize, ToSchema)]
#[schema(as = Artist)]
pub struct ArtistResponse<'a> {
    artist_id: ArtistId,
    /// The account that the service keeps for them.
    address: Address,
    username: &'a str,
    bio: &'a str,
    instagram_username: &'a str,
    twitter_username: &'a str,
    telegram_username: &'a str,
    /// The embedded one first, then in the order in which they were connected.
    wallets: &'a [Wallet],
    /// ISO 8601.
    created_at: String,
    /// ISO 8601.
    updated_at: String,
}

/// The wallets of an artist.
#[derive(Serialize, ToSchema)]
#[schema(as = Wallets)]
pub struct WalletsResponse<'a> {
    /// The embedded one first, then in the order in which they were connected.
    wallets: &'a [Wallet],
}

impl<'a> ArtistResponse<'a> {
    /// Shows what a profile says.
    ///
    /// # Errors
    /// When a time of it lies beyond the year 9999, which is a fault of ours.
    pub fn of(profile: &'a Profile) -> Result<Self, time::Error> {
        Ok(Self {
            artist_id: profile.artist.artist_id,
            address: profile.artist.embedded_wallet,
            username: &profile.username,
            bio: &profile.bio,
            instagram_username: &profile.instagram_username,
            twitter_username: &profile.twitter_username,
            telegram_username: &profile.telegram_username,
            wallets: &profile.wallets,
            created_at: clock::iso_8601(profile.created_at)?,
            updated_at: clock::iso_8601(profile.updated_at)?,
        })
    }
}

impl<'a> WalletsResponse<'a> {
    /// Shows a profile's wallets.
    pub fn of(profile: &'a Profile) -> Self {
        Self { wallets: &profile.wallets }
    }
}

/// What a caller is answered whose credential is right and who is no artist any more.
pub fn no_artist() -> ApiError {
    ApiError::unauthorized_caller("The artist is gone: sign in again")
}
