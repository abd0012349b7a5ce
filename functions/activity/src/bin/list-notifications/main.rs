//! `GET /notifications`: payments to artists, newest first.

#[cfg(test)]
mod description;
mod find;

use serde::Serialize;
use shared::{
    api::read::{Pagination, PaymentView, Reader},
    clock::iso_8601_with_offset,
    config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::{Address, ArtistName, ChainId, EventId, Flag, Page},
    store::{
        across::NotificationReads,
        artist::{ArtistTable, Artists, Profile},
        chain::{ChainTable, Payments},
    },
};
use utoipa::{IntoParams, ToSchema};

use crate::find::{NotificationPage, Notifications};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListNotifications>().await
}

struct ListNotifications {
    notifications: Notifications,
    artists: Artists,
    reader: Reader,
}

/// Filters and page.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct ListNotificationsQuery {
    /// The notified artist, by any of their wallets or their username: notifications of all of their wallets.
    #[param(inline)]
    artist: Option<ArtistName>,
    /// `true` for viewed ones, `false` for others; both by default. Without an artist a page has the matches among that page
    /// of all notifications, and may be short or empty before the last one.
    #[param(value_type = Option<bool>)]
    viewed: Option<Flag>,
    /// The chain; all by default.
    chain_id: Option<ChainId>,
    #[param(ignore)]
    #[field(flatten)]
    page: Page,
}

/// A page of notifications.
#[derive(Serialize, ToSchema)]
struct ListNotificationsResponse {
    #[schema(pattern = "^success$")]
    status: &'static str,
    notifications: Vec<Notification>,
    pagination: Pagination,
}

/// A notification of a payment.
#[derive(Serialize, ToSchema)]
struct Notification {
    id: EventId,
    payment: PaymentView,
    artist: NotifiedArtist,
    viewed: bool,
    /// ISO 8601, with an offset.
    created_at: String,
}

/// The artist who was paid; texts are empty where the profile has none.
#[derive(Serialize, ToSchema)]
struct NotifiedArtist {
    address: Address,
    username: String,
    bio: String,
    instagram_username: String,
    twitter_username: String,
    telegram_username: String,
}

impl ListNotifications {
    async fn show(&self, found: NotificationPage) -> Result<Vec<Notification>, ApiError> {
        let creators: Vec<Address> = found.payments.iter().map(|payment| payment.creator).collect();
        let (shown, profiles) =
            tokio::join!(self.reader.payments(&found.payments), self.artists.profiles_of(&creators));
        let (shown, profiles) = (shown?, profiles?);
        let notifications = found.payments.iter().zip(shown).zip(found.viewed).map(|((payment, shown), viewed)| {
            Ok(Notification {
                id: payment.notification_id(),
                payment: shown,
                artist: NotifiedArtist::new(payment.creator, profiles.get(&payment.creator)),
                viewed,
                created_at: iso_8601_with_offset(payment.transferred_at)?,
            })
        });
        notifications.collect()
    }
}

impl Endpoint for ListNotifications {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let (chain, artists) = (ChainTable::from_env(&aws)?.eventually_consistent(), ArtistTable::from_env(&aws)?);
        Ok(Self {
            notifications: Notifications {
                payments: Payments::new(chain.clone()),
                // Consistent, so that marks show immediately.
                viewed: NotificationReads::new(chain.clone(), artists.clone()),
            },
            artists: Artists::new(artists.clone().eventually_consistent()),
            reader: Reader::from_env(chain, artists)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ListNotificationsQuery { artist, viewed, chain_id, page } = request.query().read_for(&self.reader)?;
        let accounts = self.reader.accounts_on(&self.reader.chains(chain_id), artist.as_ref()).await?;
        let found = self.notifications.find(&accounts, viewed.map(|Flag(viewed)| viewed), page).await?;
        let pagination = Pagination::new(page, found.total);
        let pagination = if found.is_filtered { pagination.uncounted() } else { pagination };
        let notifications = self.show(found).await?;
        // Revalidated each time, so that marks show immediately.
        Response::public(&ListNotificationsResponse { status: "success", notifications, pagination })?
            .cacheable(0)
            .with_next_page(request, page, pagination.has_more())
    }
}

impl NotifiedArtist {
    fn new(address: Address, profile: Option<&Profile>) -> Self {
        let text = |field: fn(&Profile) -> &String| profile.map(field).cloned().unwrap_or_default();
        Self {
            address,
            username: text(|profile| &profile.username),
            bio: text(|profile| &profile.bio),
            instagram_username: text(|profile| &profile.instagram_username),
            twitter_username: text(|profile| &profile.twitter_username),
            telegram_username: text(|profile| &profile.telegram_username),
        }
    }
}
