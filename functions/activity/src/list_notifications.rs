//! Contract of `GET /notifications`.

use serde::Serialize;
use shared::{
    api::{
        read::{Pagination, PaymentView, Site},
        request::PageQuery,
    },
    http::FromFields,
    model::{Address, ArtistName, ChainId, EventId, Flag, Page},
    store::artist::Profile,
};
use utoipa::{IntoParams, ToSchema};

/// Filters and page.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct ListNotificationsQuery {
    /// The notified artist, by any of their wallets or their username: notifications of all of their wallets.
    #[param(inline)]
    pub artist: Option<ArtistName>,
    /// `true` for viewed ones, `false` for others; both by default. Without an artist, pages of all notifications are read
    /// until the matches fill one, ten at most; `Link` has the page after them.
    #[param(value_type = Option<bool>)]
    pub viewed: Option<Flag>,
    /// The chain; all by default, test networks only for an artist or where there are no others.
    pub chain_id: Option<ChainId>,
    #[param(ignore)]
    #[field(flatten)]
    pub page: Page,
}

/// A page of notifications.
#[derive(Serialize, ToSchema)]
pub struct ListNotificationsResponse {
    #[schema(pattern = "^success$")]
    pub status: &'static str,
    pub notifications: Vec<Notification>,
    pub pagination: Pagination,
}

/// A notification of a payment.
#[derive(Serialize, ToSchema)]
pub struct Notification {
    pub id: EventId,
    pub payment: PaymentView,
    pub artist: NotifiedArtist,
    pub viewed: bool,
    /// ISO 8601, with an offset.
    #[schema(examples("2026-11-21T09:30:00+00:00"))]
    pub created_at: String,
}

/// The artist who was paid; texts are empty where the profile has none, and if the operator hid the artist.
#[derive(Serialize, ToSchema)]
pub struct NotifiedArtist {
    pub address: Address,
    pub username: String,
    /// The artist's page for people.
    #[schema(format = "uri")]
    pub page: String,
    pub bio: String,
    pub instagram_username: String,
    pub twitter_username: String,
    pub telegram_username: String,
}

/// List notifications
///
/// Payments to artists, newest first.
#[utoipa::path(
    get,
    path = "/notifications",
    tag = "Activity",
    params(ListNotificationsQuery, PageQuery),
    responses((status = 200, description = "The page.", body = ListNotificationsResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
pub fn list_notifications() {}

impl NotifiedArtist {
    pub fn new(address: Address, profile: Option<&Profile>, site: &Site) -> Self {
        let profile = profile.filter(|profile| !profile.is_withheld);
        let text = |field: fn(&Profile) -> &String| profile.map(field).cloned().unwrap_or_default();
        let username = text(|profile| &profile.username);
        Self {
            address,
            page: site.artist(&username, address),
            username,
            bio: text(|profile| &profile.bio),
            instagram_username: text(|profile| &profile.instagram_username),
            twitter_username: text(|profile| &profile.twitter_username),
            telegram_username: text(|profile| &profile.telegram_username),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hidden_artist_is_an_account_without_a_profile() {
        let account = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8".parse().unwrap();
        let site = Site::from_env();
        let profile = |is_withheld: bool| -> Profile {
            serde_json::from_value(json!({
                "artist_id": "019a2b3c-4d5e-7f60-8172-839405a6b7c8", "embedded_wallet": account, "created_at": 1,
                "updated_at": 1, "username": "rude", "bio": "rude", "instagram_username": "rude",
                "twitter_username": "rude", "telegram_username": "rude", "wallets": [], "held_names": [], "version": 1,
                "is_withheld": is_withheld,
            }))
            .unwrap()
        };
        let shown =
            |profile: Option<&Profile>| serde_json::to_value(NotifiedArtist::new(account, profile, &site)).unwrap();
        assert_eq!(shown(Some(&profile(false)))["bio"], "rude");
        assert_eq!(shown(Some(&profile(true))), shown(None));
    }
}
