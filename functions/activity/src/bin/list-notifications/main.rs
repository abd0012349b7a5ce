//! `GET /notifications`: payments to artists, newest first.

mod find;

use activity::list_notifications::{ListNotificationsQuery, ListNotificationsResponse, Notification, NotifiedArtist};
use shared::{
    api::read::{Pagination, Reader, Site, fitting},
    clock::iso_8601_with_offset,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{Address, Flag},
    store::{
        across::NotificationReads,
        artist::{ArtistTable, Artists},
        chain::{ChainTable, Payments},
    },
};

use crate::find::{NotificationPage, Notifications};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListNotifications>().await
}

struct ListNotifications {
    notifications: Notifications,
    artists: Artists,
    reader: Reader,
    site: Site,
}

impl ListNotifications {
    async fn show(&self, found: &NotificationPage) -> Result<Vec<Notification>, ApiError> {
        let creators: Vec<Address> = found.payments.iter().map(|payment| payment.creator).collect();
        let (shown, profiles) =
            tokio::join!(self.reader.payments(&found.payments), self.artists.profiles_of(&creators));
        let (shown, profiles) = (shown?, profiles?);
        let notifications = found.payments.iter().zip(shown).zip(&found.viewed).map(|((payment, shown), viewed)| {
            Ok(Notification {
                id: payment.notification_id(),
                payment: shown,
                artist: NotifiedArtist::new(payment.creator, profiles.get(&payment.creator), &self.site),
                viewed: *viewed,
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
            site: Site::from_env(),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ListNotificationsQuery { artist, viewed, chain_id, page } = request.query().read_for(&self.reader)?;
        let chains = self.reader.listed_chains(chain_id, artist.is_some());
        let accounts = self.reader.accounts_on(&chains, artist.as_ref()).await?;
        let (mut page, asked) = (page, page.limit);
        let (found, notifications) = loop {
            let found = self.notifications.find(&accounts, viewed.map(|Flag(viewed)| viewed), page).await?;
            let (shown, count) = (self.show(&found).await?, found.payments.len());
            let (shown, _) = fitting(shown, &[(); 0], |_, ()| false)?;
            match page.smaller() {
                Some(smaller) if shown.len() < count => page = smaller,
                _ => break (found, shown),
            }
        };
        let pagination = Pagination::new(page, found.total);
        let pagination = if found.is_filtered { pagination.uncounted() } else { pagination };
        let (last, more) = (found.last, found.last.following(found.total).is_some());
        // Revalidated each time, so that marks show immediately.
        let response = Response::public(&ListNotificationsResponse { status: "success", notifications, pagination })?;
        let response = response.cacheable(0);
        match last.limit == asked {
            true => response.with_next_page(request, last, more),
            false => response.with_next_smaller(request, last, more),
        }
    }
}
