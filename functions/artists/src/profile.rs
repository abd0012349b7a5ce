//! An artist, as several endpoints answer with them.

use serde::Serialize;
use shared::{
    api::read::{Avatar, Site},
    clock,
    http::ApiError,
    model::{Address, ArtistId, Wallet, WebUrl},
    store::artist::Profile,
};
use utoipa::ToSchema;

/// An artist's public profile. A text that the artist didn't set is empty.
#[derive(Serialize, ToSchema)]
#[schema(as = Artist)]
pub struct ArtistResponse<'a> {
    pub artist_id: ArtistId,
    /// The embedded wallet.
    pub address: Address,
    pub username: &'a str,
    /// The artist's page for people.
    #[schema(format = "uri")]
    pub page: String,
    pub bio: &'a str,
    pub instagram_username: &'a str,
    pub twitter_username: &'a str,
    pub telegram_username: &'a str,
    /// Null without a picture.
    #[schema(required = true)]
    pub avatar: Option<Avatar>,
    /// Pages of the artist elsewhere.
    #[schema(max_items = 5)]
    pub links: &'a [WebUrl],
    /// The embedded one first, then by time of connection.
    pub wallets: &'a [Wallet],
    /// ISO 8601.
    pub created_at: String,
    /// ISO 8601.
    pub updated_at: String,
}

impl<'a> ArtistResponse<'a> {
    pub fn of(profile: &'a Profile, site: &Site) -> Result<Self, ApiError> {
        Ok(Self {
            artist_id: profile.artist.artist_id,
            address: profile.artist.embedded_wallet,
            username: &profile.username,
            page: site.artist(&profile.username, profile.artist.embedded_wallet),
            bio: &profile.bio,
            instagram_username: &profile.instagram_username,
            twitter_username: &profile.twitter_username,
            telegram_username: &profile.telegram_username,
            avatar: Avatar::of(profile, site),
            links: &profile.links,
            wallets: &profile.wallets,
            created_at: clock::iso_8601(profile.created_at)?,
            updated_at: clock::iso_8601(profile.updated_at)?,
        })
    }
}
