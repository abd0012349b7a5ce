//! `GET /artists/payout-addresses`: addresses that the artist's money can be withdrawn to.

use shared::{
    auth::session::SessionAuthenticator,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::{
        artist::{ArtistTable, PayoutAddresses},
        secret::SecretTable,
    },
};
use wallets::{PayoutView, list_payout_addresses::ListPayoutAddressesResponse};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListPayoutAddresses>().await
}

struct ListPayoutAddresses {
    sessions: SessionAuthenticator,
    payouts: PayoutAddresses,
}

impl Endpoint for ListPayoutAddresses {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(SecretTable::from_env(&aws)?)?,
            payouts: PayoutAddresses::new(ArtistTable::from_env(&aws)?),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.sessions.authenticate_person(request).await?.artist;
        let addresses = self.payouts.list(artist).await?.into_iter().map(PayoutView::of).collect::<Result<_, _>>()?;
        Response::json(&ListPayoutAddressesResponse { addresses })
    }
}
