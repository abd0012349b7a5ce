//! `PUT /notifications`: the caller has viewed their notifications, all of them or some.

#[cfg(test)]
mod description;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use shared::{
    auth::caller::CallerAuthenticator,
    chain::Chains,
    clock, config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{Address, EventId},
    store::{Artists, NotificationList, Payments, StoreError, Table, Viewed},
    telemetry,
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(MarkNotifications::from_env().await?).await
}

struct MarkNotifications {
    callers: CallerAuthenticator,
    chains: Chains,
    payments: Payments,
    artists: Artists,
    viewed: Viewed,
}

/// Which notifications are meant: `ids`, 1 to 100 of them; all unless given.
struct MarkNotificationsRequest(Option<BTreeSet<EventId>>);

#[derive(Serialize, ToSchema)]
struct MarkNotificationsResponse {
    status: &'static str,
    /// How many weren't viewed before.
    updated: u64,
}

impl MarkNotifications {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let artists = Table::artists(&aws)?;
        Ok(Self {
            callers: CallerAuthenticator::from_env(Table::secrets(&aws)?)?,
            chains: Chains::from_env()?,
            payments: Payments::new(Table::chain(&aws)?),
            artists: Artists::new(artists.clone()),
            viewed: Viewed::new(artists),
        })
    }

    /// Marks everything that these accounts have on any chain.
    async fn mark_all(&self, accounts: &BTreeSet<Address>) -> Result<u64, StoreError> {
        let mut lists = Vec::new();
        for chain in self.chains.iter() {
            lists.extend(accounts.iter().map(|account| NotificationList { chain: chain.id, artist: *account }));
        }
        let counts = self.payments.notification_counts(lists).await?;
        self.viewed.mark_all(&Vec::from_iter(counts)).await
    }

    /// Marks those of `ids` that are these accounts'.
    async fn mark(&self, accounts: &BTreeSet<Address>, ids: &BTreeSet<EventId>) -> Result<u64, StoreError> {
        let mut own: BTreeMap<NotificationList, BTreeSet<u64>> = BTreeMap::new();
        for (list, number) in self.payments.notification_places(ids).await?.into_values() {
            if accounts.contains(&list.artist) {
                own.entry(list).or_default().insert(number);
            }
        }
        let mut updated = 0;
        for (list, numbers) in own {
            updated += self.viewed.mark(list, &numbers).await?;
        }
        Ok(updated)
    }
}

impl Endpoint for MarkNotifications {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.callers.authenticate(request, clock::now()?).await?;
        let MarkNotificationsRequest(ids) = MarkNotificationsRequest::parse(request)?;
        let profile = self.artists.profile(artist).await?;
        let accounts = profile.iter().flat_map(|profile| &profile.wallets).map(|wallet| wallet.address).collect();
        let updated = match ids {
            Some(ids) => self.mark(&accounts, &ids).await?,
            None => self.mark_all(&accounts).await?,
        };
        Response::json(&MarkNotificationsResponse { status: "success", updated })
    }
}

impl MarkNotificationsRequest {
    fn parse(request: &Request) -> Result<Self, ApiError> {
        let mut fields = request.json_or_empty()?;
        let all = !fields.has("ids");
        let ids = if all { None } else { fields.list::<EventId>("ids", 1..=100) };
        fields.finish(|| if all { Some(Self(None)) } else { Some(Self(Some(ids?.into_iter().collect()))) })
    }
}
