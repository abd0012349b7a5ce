//! `DELETE /artists/wallets?address=`: disconnects one of the caller's wallets. Nothing changes onchain.

#[cfg(test)]
mod description;

use shared::{
    api::{artist::WalletsResponse, error::no_artist},
    auth::caller::CallerAuthenticator,
    clock, config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::Address,
    store::{Artists, Table, WalletRefusal},
    telemetry,
};
use utoipa::IntoParams;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(DisconnectWallet::from_env().await?).await
}

struct DisconnectWallet {
    callers: CallerAuthenticator,
    artists: Artists,
}

/// The wallet.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
struct DisconnectWalletQuery {
    /// Its address.
    address: Address,
}

impl DisconnectWallet {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            callers: CallerAuthenticator::from_env(Table::secrets(&aws)?)?,
            artists: Artists::new(Table::artists(&aws)?),
        })
    }
}

impl Endpoint for DisconnectWallet {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let artist = self.callers.authenticate(request, now).await?;
        let DisconnectWalletQuery { address } = request.query().read()?;
        let rest = self.artists.disconnect_wallet(artist, address, now.as_secs()).await?;
        Response::json(&WalletsResponse::of(&rest.map_err(refused)?))
    }
}

fn refused(refusal: WalletRefusal) -> ApiError {
    match refusal {
        WalletRefusal::Embedded => {
            ApiError::conflict("This is the account that the service keeps for you: it can't be disconnected")
        }
        WalletRefusal::Unknown => ApiError::not_found("You have no wallet with this address"),
        WalletRefusal::Gone | WalletRefusal::Taken | WalletRefusal::TooMany | WalletRefusal::Used => no_artist(),
    }
}
