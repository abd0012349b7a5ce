//! `POST /artists/passkeys`: adds a passkey that an authenticator made for `POST /artists/passkeys/challenge`.

use auth::{
    add_passkey::AddPasskeyRequest,
    passkey::{Credential, PasskeysResponse, relying_party},
};
use shared::{
    api::{
        activity::ActivityLog,
        error::{no_artist, unproved},
    },
    auth::{service_address::ServiceAddress, session::SessionAuthenticator},
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{ActivityKind, PasskeyId},
    store::{
        across::{PasskeyChanges, PasskeyRefusal},
        artist::ArtistTable,
        secret::{MAX_PASSKEYS, Passkeys, SecretTable, StoredPasskey},
    },
};
use webauthn_rs::prelude::PasskeyRegistration;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<AddPasskey>().await
}

struct AddPasskey {
    sessions: SessionAuthenticator,
    address: ServiceAddress,
    changes: PasskeyChanges,
    passkeys: Passkeys,
    activity: ActivityLog,
}

impl Endpoint for AddPasskey {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(secrets.clone())?,
            address: ServiceAddress::from_env(),
            changes: PasskeyChanges::new(ArtistTable::from_env(&aws)?, secrets.clone()),
            passkeys: Passkeys::new(secrets),
            activity: ActivityLog::from_env(&aws)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let artist = self.sessions.authenticate_freshly(request, now).await?.artist;
        let AddPasskeyRequest { ceremony: id, credential: Credential(credential), name, proof } =
            request.json()?.read()?;
        let relying_party = relying_party(&self.address.of(request)?)?;
        let ceremony = self.passkeys.take(id, Some(artist), now.as_secs()).await?.ok_or_else(|| {
            ApiError::invalid_field(
                "ceremony",
                "was not given to you, has expired or was used: begin with POST /artists/passkeys/challenge",
            )
        })?;
        let state: PasskeyRegistration = serde_json::from_str(&ceremony.state).map_err(ApiError::internal)?;
        let passkey = relying_party
            .finish_passkey_registration(&credential, &state)
            .map_err(|error| ApiError::invalid_field("credential", format!("doesn't answer the challenge: {error}")))?;
        let stored = StoredPasskey {
            id: PasskeyId::of(passkey.cred_id().as_ref()),
            name,
            credential: serde_json::to_string(&passkey).map_err(ApiError::internal)?,
            created_at: now.as_secs(),
            used_at: None,
            expires_at: None,
        };
        self.changes.add(artist, &stored, id, proof, now.as_secs()).await?.map_err(refused)?;
        self.activity.note(request, artist, ActivityKind::PasskeyAdded, &stored.id.to_string()).await;
        Response::json(&PasskeysResponse::of(self.passkeys.list(artist, now.as_secs()).await?)?)
    }
}

fn refused(refusal: PasskeyRefusal) -> ApiError {
    match refusal {
        PasskeyRefusal::Known => ApiError::conflict("You have this passkey already"),
        PasskeyRefusal::TooMany => {
            ApiError::conflict(format!("You have {MAX_PASSKEYS} passkeys already: remove one first"))
        }
        PasskeyRefusal::Unproved => unproved("proof"),
        PasskeyRefusal::Unknown | PasskeyRefusal::Stays | PasskeyRefusal::LastWayIn | PasskeyRefusal::OneSided => {
            no_artist()
        }
    }
}
