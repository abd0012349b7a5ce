//! Answers with an artist or their wallets.

use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    clock,
    model::{Address, ArtistId, Wallet},
    store::artist::Profile,
};

/// An artist's public profile. A text that the artist didn't set is empty.
#[derive(Serialize, ToSchema)]
#[schema(as = Artist)]
pub struct ArtistResponse<'a> {
    artist_id: ArtistId,
    /// The embedded wallet.
    address: Address,
    username: &'a str,
    bio: &'a str,
    instagram_username: &'a str,
    twitter_username: &'a str,
    telegram_username: &'a str,
    /// The embedded one first, then by time of connection.
    wallets: &'a [Wallet],
    /// ISO 8601.
    created_at: String,
    /// ISO 8601.
    updated_at: String,
}

/// An artist's wallets.
#[derive(Serialize, ToSchema)]
#[schema(as = WalletList)]
pub struct WalletsResponse<'a> {
    /// The embedded one first, then by time of connection.
    wallets: &'a [Wallet],
}

impl<'a> ArtistResponse<'a> {
    /// Shows a profile. Fails for a time beyond the year 9999.
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
