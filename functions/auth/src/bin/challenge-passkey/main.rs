//! `POST /artists/passkeys/challenge`: says what passkey an authenticator is to make.

use auth::passkey::{CeremonyResponse, credential_of, discoverable, relying_party};
use shared::{
    api::error::no_artist,
    auth::{service_address::ServiceAddress, session::SessionAuthenticator},
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::{
        artist::{ArtistTable, Artists},
        secret::{MAX_PASSKEYS, Passkeys, SecretTable},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ChallengePasskey>().await
}

struct ChallengePasskey {
    sessions: SessionAuthenticator,
    address: ServiceAddress,
    artists: Artists,
    passkeys: Passkeys,
}

impl Endpoint for ChallengePasskey {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(secrets.clone())?,
            address: ServiceAddress::from_env(),
            artists: Artists::new(ArtistTable::from_env(&aws)?),
            passkeys: Passkeys::new(secrets),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let artist = self.sessions.authenticate_freshly(request, now).await?.artist;
        let profile = self.artists.profile(artist).await?.ok_or_else(no_artist)?;
        let account = profile.artist.embedded_wallet.to_string();
        let name = if profile.username.is_empty() { &account } else { &profile.username };
        let known = self.passkeys.list(artist, now.as_secs()).await?;
        // One that is to be removed may be added again.
        let known: Vec<_> = known.iter().filter(|known| known.expires_at.is_none()).collect();
        if known.len() >= MAX_PASSKEYS {
            return Err(ApiError::conflict(format!("You have {MAX_PASSKEYS} passkeys already: remove one first")));
        }
        let known = known.into_iter().map(credential_of);
        let known = known.map(|passkey| passkey.map(|passkey| passkey.cred_id().clone()));
        let known = known.collect::<Result<Vec<_>, _>>()?;
        let relying_party = relying_party(&self.address.of(request)?)?;
        let started = relying_party.start_passkey_registration(artist.as_user_handle(), name, name, Some(known));
        let (options, state) = started.map_err(ApiError::internal)?;
        let state = serde_json::to_string(&state).map_err(ApiError::internal)?;
        let ceremony = self.passkeys.begin(state, Some(artist), now.as_secs()).await?;
        Response::json(&CeremonyResponse { ceremony, public_key: discoverable(options)? })
    }
}
