//! `GET /notifications`: what artists were paid for, newest first.

#[cfg(test)]
mod description;
mod find;

use serde::Serialize;
use shared::{
    clock::iso_8601_with_offset,
    config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{Address, ChainId, EventId, Flag, Page},
    reading::{Reader, ShownPayment},
    store::{Artists, Payments, Profile, Table, Viewed},
    telemetry,
};
use utoipa::ToSchema;

use crate::find::{Found, Notifications};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(ListNotifications::from_env().await?).await
}

struct ListNotifications {
    notifications: Notifications,
    artists: Artists,
    reader: Reader,
}

/// Which notifications are asked for.
struct ListNotificationsQuery {
    /// `artist`: the account whose they are; everyone's unless given.
    artist: Option<Address>,
    /// `viewed`: `true` or `false`; both unless given.
    viewed: Option<bool>,
    /// `chainId`: 8453 unless given.
    chain: ChainId,
    /// `limit` and `page`.
    page: Page,
}

#[derive(Serialize, ToSchema)]
struct ListNotificationsResponse {
    status: &'static str,
    notifications: Vec<Notification>,
}

/// The contract's `Notification`.
#[derive(Serialize, ToSchema)]
struct Notification {
    id: EventId,
    payment: ShownPayment,
    artist: NotifiedArtist,
    viewed: bool,
    /// ISO 8601, with an offset.
    created_at: String,
}

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
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let (chain, artists) = (Table::chain(&aws)?, Table::artists(&aws)?);
        Ok(Self {
            notifications: Notifications {
                payments: Payments::new(chain.clone()),
                viewed: Viewed::new(artists.clone()),
            },
            artists: Artists::new(artists.clone()),
            reader: Reader::from_env(chain, artists)?,
        })
    }

    async fn show(&self, found: Found) -> Result<Vec<Notification>, ApiError> {
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
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let query = ListNotificationsQuery::parse(request, &self.reader)?;
        let ListNotificationsQuery { artist, viewed, chain, page } = query;
        let found = self.notifications.find(chain, artist, viewed, page).await?;
        let more = found.more;
        let notifications = self.show(found).await?;
        // Revalidated each time: whoever marks theirs wants to see that at once.
        Response::public(&ListNotificationsResponse { status: "success", notifications })?
            .cacheable(0)
            .with_next_page(request, page, more)
    }
}

impl ListNotificationsQuery {
    fn parse(request: &Request, reader: &Reader) -> Result<Self, ApiError> {
        let mut fields = request.query();
        let artist = fields.optional("artist");
        let viewed = fields.optional::<Flag>("viewed");
        let chain = reader.chain(&mut fields, "chainId");
        let page = fields.page();
        fields.finish(|| Some(Self { artist, viewed: viewed.map(|flag| flag.0), chain: chain?, page: page? }))
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
