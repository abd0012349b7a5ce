//! `DELETE /artists/payout-addresses?address=`: removes an address that money can be withdrawn to.

#[cfg(test)]
mod description;

use serde::Serialize;
use shared::{
    api::activity::ActivityLog,
    auth::session::SessionAuthenticator,
    config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::{ActivityKind, Address},
    store::{PayoutAddresses, Table},
    telemetry,
};
use utoipa::{IntoParams, ToSchema};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(RemovePayoutAddress::from_env().await?).await
}

struct RemovePayoutAddress {
    sessions: SessionAuthenticator,
    payouts: PayoutAddresses,
    activity: ActivityLog,
}

/// The address.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
struct RemovePayoutAddressQuery {
    /// The account.
    address: Address,
}

#[derive(Serialize, ToSchema)]
struct RemovePayoutAddressResponse {
    /// It is removed.
    success: bool,
}

impl RemovePayoutAddress {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(Table::secrets(&aws)?)?,
            payouts: PayoutAddresses::new(Table::artists(&aws)?),
            activity: ActivityLog::from_env(&aws)?,
        })
    }
}

impl Endpoint for RemovePayoutAddress {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.sessions.authenticate_person(request).await?.artist;
        let RemovePayoutAddressQuery { address } = request.query().read()?;
        if !self.payouts.remove(artist, address).await? {
            return Err(ApiError::not_found("You have no payout address like this"));
        }
        self.activity.note(request, artist, ActivityKind::PayoutRemoved, &address.to_string()).await;
        Response::json(&RemovePayoutAddressResponse { success: true })
    }
}
