//! `DELETE /artists/payout-addresses?address=`: removes an address that money can be withdrawn to.

use shared::{
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
    model::ActivityKind,
};
use wallets::{
    PayoutService,
    remove_payout_address::{RemovePayoutAddressQuery, RemovePayoutAddressResponse},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<RemovePayoutAddress>().await
}

struct RemovePayoutAddress(PayoutService);

impl Endpoint for RemovePayoutAddress {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self(PayoutService::from_env().await?))
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.0.sessions.authenticate_person(request).await?.artist;
        let RemovePayoutAddressQuery { address } = request.query().read()?;
        if !self.0.payouts.remove(artist, address).await? {
            return Err(ApiError::not_found("You have no payout address like this"));
        }
        self.0.activity.note(request, artist, ActivityKind::PayoutRemoved, &address.to_string()).await;
        Response::json(&RemovePayoutAddressResponse { success: true })
    }
}
