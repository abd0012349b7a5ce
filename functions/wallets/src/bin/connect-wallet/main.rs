//! `POST /artists/wallets`: connects a wallet that signed a message of `POST /artists/wallets/challenge`.

use shared::{
    api::{
        activity::ActivityLog,
        error::{no_artist, unproved},
        wallet_verifier::WalletVerifier,
    },
    auth::session::SessionAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::ActivityKind,
    store::{
        across::WalletConnections,
        artist::{ArtistTable, MAX_WALLETS, WalletRefusal},
        secret::{Challenges, SecretTable},
    },
};
use wallets::{WalletsResponse, connect_wallet::ConnectWalletRequest};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ConnectWallet>().await
}

struct ConnectWallet {
    sessions: SessionAuthenticator,
    challenges: Challenges,
    connections: WalletConnections,
    activity: ActivityLog,
    verifier: WalletVerifier,
}

impl Endpoint for ConnectWallet {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(secrets.clone())?,
            challenges: Challenges::new(secrets.clone()),
            connections: WalletConnections::new(ArtistTable::from_env(&aws)?, secrets),
            activity: ActivityLog::from_env(&aws)?,
            verifier: WalletVerifier::from_env(&aws).await?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let token = self.sessions.authenticate_person(request).await?;
        if !token.is_recent(now) {
            return Err(ApiError::stale_sign_in());
        }
        let artist = token.artist;
        let ConnectWalletRequest { message, signature, proof } = request.json()?.read()?;
        let challenge = self.challenges.count_try(message.as_str(), Some(artist), now.as_secs()).await?;
        let challenge = challenge.ok_or_else(unknown_message)?;
        // Its own signature is enough for what is to be disconnected to stay.
        if !token.is_fresh(now) && !self.connections.is_leaving(artist, challenge.wallet).await? {
            return Err(ApiError::stale_sign_in());
        }
        let wallet = self.verifier.verify(&challenge, &message, &signature).await?;
        let wallet = wallet.map_err(|reason| ApiError::invalid_field("signature", reason))?;
        let connected = self.connections.connect(artist, wallet, &challenge, proof, now.as_secs()).await?;
        let profile = connected.map_err(refused)?;
        self.activity.note(request, artist, ActivityKind::WalletConnected, &wallet.address.to_string()).await;
        Response::json(&WalletsResponse::of(&profile)?)
    }
}

fn refused(refusal: WalletRefusal) -> ApiError {
    match refusal {
        WalletRefusal::Taken => ApiError::conflict("The wallet is another artist's: they must disconnect it first"),
        WalletRefusal::TooMany => {
            ApiError::conflict(format!("You have {MAX_WALLETS} wallets already: disconnect one first"))
        }
        WalletRefusal::Used => unknown_message(),
        WalletRefusal::Unproved => unproved("proof"),
        WalletRefusal::Gone | WalletRefusal::Unknown | WalletRefusal::Embedded | WalletRefusal::LastWayIn => {
            no_artist()
        }
    }
}

/// One answer for every reason: it must not reveal whose message it is.
fn unknown_message() -> ApiError {
    ApiError::invalid_field(
        "message",
        "is none that you were given, has expired or was used: get a new one from POST /artists/wallets/challenge",
    )
}
