//! `POST /artists/payout-addresses`: adds an address that the artist's money can be withdrawn to, a day later.

use shared::{
    clock,
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{ActivityKind, CheckedAddress},
    store::artist::{MAX_PAYOUTS, PayoutAddress},
};
use wallets::{PayoutService, PayoutView, add_payout_address::AddPayoutAddressRequest};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<AddPayoutAddress>().await
}

struct AddPayoutAddress(PayoutService);

impl Endpoint for AddPayoutAddress {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self(PayoutService::from_env().await?))
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let artist = self.0.sessions.authenticate_freshly(request, now).await?.artist;
        let AddPayoutAddressRequest { address: CheckedAddress(address) } = request.json()?.read()?;
        let added = PayoutAddress { address, added_at: now.as_secs() };
        if self.0.payouts.add(artist, &added).await? {
            self.0.activity.note(request, artist, ActivityKind::PayoutAdded, &address.to_string()).await;
            return Response::json(&PayoutView::of(added)?);
        }
        match self.0.payouts.find(artist, address).await? {
            Some(known) => Response::json(&PayoutView::of(known)?),
            None => {
                Err(ApiError::conflict(format!("You have {MAX_PAYOUTS} payout addresses already: remove one first")))
            }
        }
    }
}
