//! `DELETE /artists/wallets?address=`: disconnects one of the caller's wallets. Nothing changes onchain.

use shared::{
    api::{
        activity::ActivityLog,
        error::{last_way_in, no_artist, unproved},
    },
    auth::session::SessionAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::ActivityKind,
    store::{
        across::WaysIn,
        artist::{ArtistTable, WalletRefusal},
        secret::SecretTable,
    },
};
use wallets::{
    WalletsResponse,
    disconnect_wallet::{DisconnectWalletQuery, DisconnectWalletRequest},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<DisconnectWallet>().await
}

struct DisconnectWallet {
    sessions: SessionAuthenticator,
    ways_in: WaysIn,
    activity: ActivityLog,
}

impl Endpoint for DisconnectWallet {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(secrets.clone())?,
            ways_in: WaysIn::new(ArtistTable::from_env(&aws)?, secrets),
            activity: ActivityLog::from_env(&aws)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let artist = self.sessions.authenticate_person(request).await?.artist;
        let DisconnectWalletQuery { address } = request.query().read()?;
        let DisconnectWalletRequest { proof } = request.json_or_empty()?.read()?;
        let rest = self.ways_in.disconnect_wallet(artist, address, proof, now.as_secs()).await?;
        let profile = rest.map_err(refused)?;
        self.activity.note(request, artist, ActivityKind::WalletDisconnected, &address.to_string()).await;
        Response::json(&WalletsResponse::of(&profile)?)
    }
}

fn refused(refusal: WalletRefusal) -> ApiError {
    match refusal {
        WalletRefusal::Embedded => {
            ApiError::conflict("This is the account that the service keeps for you: it can't be disconnected")
        }
        WalletRefusal::LastWayIn => last_way_in("wallet"),
        WalletRefusal::Unproved => unproved("proof"),
        WalletRefusal::Unknown => ApiError::not_found("You have no wallet with this address"),
        WalletRefusal::Gone | WalletRefusal::Taken | WalletRefusal::TooMany | WalletRefusal::Used => no_artist(),
    }
}
