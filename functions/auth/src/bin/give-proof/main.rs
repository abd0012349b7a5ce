//! `PUT /artists/proofs`: takes an artist's answer to what `POST /artists/proofs` asked.

use auth::{
    give_proof::{GiveProofRequest, GiveProofResponse},
    passkey::{Credential, UsedCredential, credential_of, relying_party},
};
use shared::{
    api::wallet_verifier::WalletVerifier,
    auth::{proof_code::ProofCodes, service_address::ServiceAddress, session::SessionAuthenticator},
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    kms::MacKeys,
    model::{ArtistId, PasskeyId},
    store::secret::{Passkeys, ProofChallenge, Proofs, SecretTable},
    telemetry,
};
use webauthn_rs::prelude::DiscoverableAuthentication;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<GiveProof>().await
}

struct GiveProof {
    sessions: SessionAuthenticator,
    proofs: Proofs,
    codes: ProofCodes,
    passkeys: Passkeys,
    verifier: WalletVerifier,
    address: ServiceAddress,
}

impl Endpoint for GiveProof {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let secrets = SecretTable::from_env(&aws)?;
        let (proofs, keys) = (Proofs::new(secrets.clone()), MacKeys::from_env(&aws, config::variables::CODE_KEY_IDS)?);
        Ok(Self {
            sessions: SessionAuthenticator::from_env(secrets.clone())?,
            codes: ProofCodes::new(proofs.clone(), keys),
            proofs,
            passkeys: Passkeys::new(secrets),
            verifier: WalletVerifier::from_env(&aws).await?,
            address: ServiceAddress::from_env(),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?.as_secs();
        let artist = self.sessions.authenticate_person(request).await?.artist;
        let GiveProofRequest { proof: id, code, signature, credential } = request.json()?.read()?;
        let proof = self.proofs.count_try(id, artist, now).await?.ok_or_else(unknown_proof)?;
        let by = match &proof.challenge {
            ProofChallenge::Email { email_hash, mac } => {
                let code = code.ok_or_else(|| required("code"))?;
                if !self.codes.is_right(&proof, email_hash, mac, &code).await? {
                    return Err(ApiError::invalid_field("code", "is wrong: check it, or ask for another one"));
                }
                None
            }
            ProofChallenge::Wallet { wallet, message_hash, chain } => {
                let signature = signature.ok_or_else(|| required("signature"))?;
                let verified = self.verifier.verify_known(*wallet, *chain, *message_hash, &signature).await?;
                verified.map_err(|reason| ApiError::invalid_field("signature", reason))?;
                None
            }
            ProofChallenge::Passkey { state, .. } => {
                let credential = credential.ok_or_else(|| required("credential"))?;
                Some(self.verify_passkey(request, artist, state, credential, now).await?)
            }
        };
        if !self.proofs.give(id, by.as_ref(), now).await? {
            return Err(unknown_proof());
        }
        Response::json(&GiveProofResponse { success: true })
    }
}

impl GiveProof {
    async fn verify_passkey(
        &self,
        request: &Request,
        artist: ArtistId,
        state: &str,
        Credential(credential): UsedCredential,
        now: u64,
    ) -> Result<PasskeyId, ApiError> {
        let state: DiscoverableAuthentication = serde_json::from_str(state).map_err(ApiError::internal)?;
        let id = PasskeyId::of(credential.get_credential_id());
        let stored = self.passkeys.find(artist, &id, now).await?.ok_or_else(refused)?;
        let mut passkey = credential_of(&stored)?;
        let relying_party = relying_party(&self.address.of(request)?)?;
        let result = relying_party.finish_discoverable_authentication_v2(&credential, state, &passkey);
        let result = result.map_err(|error| {
            // A counter that doesn't rise may be that of a clone: who is asked about an attack finds the line.
            tracing::info!(artist.id = %artist, passkey = %id, error = telemetry::chain(&error), "passkey refused");
            refused()
        })?;
        passkey.update_credential(&result);
        let credential = serde_json::to_string(&passkey).map_err(ApiError::internal)?;
        if !self.passkeys.note_use(artist, &stored, credential, now).await? {
            return Err(refused());
        }
        Ok(id)
    }
}

fn required(field: &str) -> ApiError {
    ApiError::invalid_field(field, "is required: that is what the proof asks for")
}

fn refused() -> ApiError {
    ApiError::invalid_field("credential", "is not of a passkey of yours, or answers something else: try again")
}

/// One answer for every reason: it must not reveal whose proof it is.
fn unknown_proof() -> ApiError {
    ApiError::invalid_field(
        "proof",
        "is none that you were asked for, has expired, was given, or was tried too often: ask for one with \
         POST /artists/proofs",
    )
}
