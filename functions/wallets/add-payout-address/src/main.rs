//! `POST /artists/payout-addresses`: adds an address that the artist's money can be withdrawn to, a day later.

#[cfg(test)]
mod description;

use shared::{
    api::{activity::ActivityLog, payout::PayoutView},
    auth::session::SessionAuthenticator,
    clock, config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::{ActivityKind, CheckedAddress},
    store::{MAX_PAYOUTS, PayoutAddress, PayoutAddresses, Table},
    telemetry,
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(AddPayoutAddress::from_env().await?).await
}

struct AddPayoutAddress {
    sessions: SessionAuthenticator,
    payouts: PayoutAddresses,
    activity: ActivityLog,
}

/// The address.
#[derive(FromFields, ToSchema)]
struct AddPayoutAddressRequest {
    /// Account that money can be withdrawn to.
    address: CheckedAddress,
}

impl AddPayoutAddress {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(Table::secrets(&aws)?)?,
            payouts: PayoutAddresses::new(Table::artists(&aws)?),
            activity: ActivityLog::from_env(&aws)?,
        })
    }
}

impl Endpoint for AddPayoutAddress {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let artist = self.sessions.authenticate_freshly(request, now).await?.artist;
        let AddPayoutAddressRequest { address: CheckedAddress(address) } = request.json()?.read()?;
        let added = PayoutAddress { address, added_at: now.as_secs() };
        if self.payouts.add(artist, &added).await? {
            self.activity.note(request, artist, ActivityKind::PayoutAdded, &address.to_string()).await;
            return Response::json(&PayoutView::of(added)?);
        }
        match self.payouts.find(artist, address).await? {
            Some(known) => Response::json(&PayoutView::of(known)?),
            None => {
                Err(ApiError::conflict(format!("You have {MAX_PAYOUTS} payout addresses already: remove one first")))
            }
        }
    }
}
