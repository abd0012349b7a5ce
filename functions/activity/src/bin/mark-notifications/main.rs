//! `PUT /notifications`: marks notifications of the caller as viewed, all or some.

use std::collections::{BTreeMap, BTreeSet};

use activity::mark_notifications::{MarkNotificationsRequest, MarkNotificationsResponse};
use shared::{
    auth::caller::CallerAuthenticator,
    chain::Chains,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{Address, EventId},
    store::{
        StoreError,
        across::NotificationReads,
        artist::{ArtistTable, Artists},
        chain::{ChainTable, NotificationList, NotificationPlace, Payments},
        secret::SecretTable,
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<MarkNotifications>().await
}

struct MarkNotifications {
    callers: CallerAuthenticator,
    chains: Chains,
    payments: Payments,
    artists: Artists,
    viewed: NotificationReads,
}

impl MarkNotifications {
    /// Marks all notifications of these accounts, on every chain.
    async fn mark_all(&self, accounts: &BTreeSet<Address>) -> Result<u64, StoreError> {
        let mut lists = Vec::new();
        for chain in self.chains.iter() {
            lists.extend(accounts.iter().map(|account| NotificationList { chain: chain.id, artist: *account }));
        }
        let counts = self.payments.notification_counts(lists).await?;
        self.viewed.mark_all(&Vec::from_iter(counts.into_keys())).await
    }

    /// Marks the notifications of these accounts among `ids`.
    async fn mark(&self, accounts: &BTreeSet<Address>, ids: &BTreeSet<EventId>) -> Result<u64, StoreError> {
        let mut own: BTreeMap<NotificationList, Vec<NotificationPlace>> = BTreeMap::new();
        for place in self.payments.notification_places(ids).await?.into_values() {
            if accounts.contains(&place.list.artist) {
                own.entry(place.list).or_default().push(place);
            }
        }
        let mut updated = 0;
        for (list, places) in own {
            updated += self.viewed.mark(list, &places).await?;
        }
        Ok(updated)
    }
}

impl Endpoint for MarkNotifications {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let (artists, chain) = (ArtistTable::from_env(&aws)?, ChainTable::from_env(&aws)?);
        Ok(Self {
            callers: CallerAuthenticator::from_env(SecretTable::from_env(&aws)?)?,
            chains: Chains::from_env()?,
            payments: Payments::new(chain.clone()),
            artists: Artists::new(artists.clone()),
            viewed: NotificationReads::new(chain, artists),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.callers.authenticate(request, clock::now()?).await?;
        let MarkNotificationsRequest { ids } = request.json_or_empty()?.read()?;
        let profile = self.artists.profile(artist).await?;
        let accounts = profile.iter().flat_map(|profile| &profile.wallets).map(|wallet| wallet.address).collect();
        let updated = match ids {
            Some(ids) => self.mark(&accounts, &BTreeSet::from_iter(ids)).await?,
            None => self.mark_all(&accounts).await?,
        };
        Response::json(&MarkNotificationsResponse { status: "success", updated })
    }
}
