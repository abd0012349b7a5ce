//! `POST /artists/proofs`: asks an artist to prove who they are, for one act.

use std::time::Duration;

use auth::{
    ask_proof::{AskProofRequest, AskProofResponse},
    passkey::{assertion, credential_of, relying_party},
};
use shared::{
    api::error::no_artist,
    auth::{
        client_limit::ClientLimit,
        mail_budget::{KeptMails, MailBudget, Room},
        proof_code::ProofCodes,
        rate_limit::{self, Limit},
        service_address::ServiceAddress,
        session::SessionAuthenticator,
        token::{Means, VerifiedToken},
        wallet_proof::{Challenger, Purpose},
    },
    chain::Chains,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    kms::MacKeys,
    mail::Mailer,
    model::{Address, ArtistId, ChainId, Email, ProofId, ProofWay, ProvenAct},
    store::{
        artist::{ArtistTable, Artists, EmailOwner},
        secret::{FailedCodes, Passkeys, ProofChallenge, Proofs, RateWindows, SecretTable, StoredProof},
    },
};

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<AskProof>().await
}

struct AskProof {
    sessions: SessionAuthenticator,
    chains: Chains,
    clients: ClientLimit,
    windows: RateWindows,
    artists: Artists,
    passkeys: Passkeys,
    proofs: Proofs,
    codes: ProofCodes,
    failed_codes: FailedCodes,
    total: MailBudget,
    kept: KeptMails,
    mailer: Mailer,
    address: ServiceAddress,
}

impl Endpoint for AskProof {
    /// Reads `CODES_PER_CLIENT_HOURLY` (300) besides what its parts read.
    async fn from_env() -> Result<Self, StartError> {
        let (aws, most) = (config::aws().await, config::parsed(config::variables::CODES_PER_CLIENT_HOURLY)?);
        let secrets = SecretTable::from_env(&aws)?;
        let (proofs, keys) = (Proofs::new(secrets.clone()), MacKeys::from_env(&aws, config::variables::CODE_KEY_IDS)?);
        Ok(Self {
            sessions: SessionAuthenticator::from_env(secrets.clone())?,
            chains: Chains::from_env()?,
            clients: ClientLimit::of_share(secrets.clone(), "proof", most, HOUR),
            windows: RateWindows::new(secrets.clone()),
            artists: Artists::new(ArtistTable::from_env(&aws)?),
            passkeys: Passkeys::new(secrets.clone()),
            codes: ProofCodes::new(proofs.clone(), keys),
            proofs,
            failed_codes: FailedCodes::new(secrets.clone()),
            total: MailBudget::from_env(secrets.clone())?,
            kept: KeptMails::from_env(secrets)?,
            mailer: Mailer::from_env(&aws)?,
            address: ServiceAddress::from_env(),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let token = self.sessions.authenticate_person(request).await?;
        if !token.is_recent(now) {
            return Err(ApiError::stale_sign_in());
        }
        let AskProofRequest { act, subject, way, address, chain_id } = request.json()?.read_for(&self.chains)?;
        let proven = ProvenAct::new(act, &subject)
            .map_err(|error| ApiError::invalid_field("subject", format!("{error}, for {act}")))?;
        // The artist's own first: what they refuse doesn't count for others of the network.
        let own = rate_limit::admit(&self.windows, &limits_of_asker(&token, way), now).await?;
        let mut states = vec![self.clients.admit(request, now).await?];
        states.extend(own);
        request.note_limits(&states);
        let answer = match (way, address) {
            (ProofWay::Wallet, Some(address)) => {
                self.ask_wallet(request, token.artist, &proven, address, chain_id, now).await?
            }
            (ProofWay::Passkey, _) => self.ask_passkey(request, token.artist, &proven, now).await?,
            _ => self.mail(request, token.artist, &proven, now).await?,
        };
        Response::json(&answer)
    }
}

impl AskProof {
    async fn mail(
        &self,
        request: &Request,
        artist: ArtistId,
        proven: &ProvenAct,
        now: Duration,
    ) -> Result<AskProofResponse, ApiError> {
        let to = match proven {
            ProvenAct::NewEmail(email) => self.new_mailbox(artist, email, now).await?,
            _ => self.own_mailbox(artist, now).await?,
        };
        let (proof, code) = self.codes.issue(artist, proven, &to, now).await?;
        let origin = self.address.of(request)?;
        let sent = self.mailer.send_proof_code(&to, &code, proven.act(), origin.as_str().trim_end_matches('/')).await;
        sent.map_err(|error| ApiError::bad_gateway("The mail could not be sent: try again in a moment", error))?;
        Ok(AskProofResponse { proof, way: ProofWay::Email, message: None, public_key: None })
    }

    /// The artist's own address, if a mail to it has room: apart from those of sign-ins, which it must not use up.
    async fn own_mailbox(&self, artist: ArtistId, now: Duration) -> Result<Email, ApiError> {
        let Some(email) = self.artists.contact(artist, now.as_secs()).await?.email else {
            return Err(ApiError::unprocessable("You have no mail address: use a wallet or a passkey"));
        };
        if self.failed_codes.history(&email, None, now.as_secs()).await?.is_stopped {
            return Err(ApiError::unprocessable(
                "Mails to your address came back or were called spam: use a wallet or a passkey",
            ));
        }
        if !self.kept.admits(now).await? {
            return Err(ApiError::too_many("The service is asked for too many mails: wait", HOUR.as_secs()));
        }
        Ok(email)
    }

    /// An address that is nobody's, if a mail to it has room.
    async fn new_mailbox(&self, artist: ArtistId, email: &Email, now: Duration) -> Result<Email, ApiError> {
        if self.artists.find_by_email(email, now.as_secs()).await? != EmailOwner::Nobody {
            return Err(ApiError::conflict("This address is that of an account already: use another one"));
        }
        let history = self.failed_codes.history(email, None, now.as_secs()).await?;
        if history.is_stopped {
            return Err(ApiError::unprocessable(
                "Mails to this address came back or were called spam: use another one",
            ));
        }
        rate_limit::admit(&self.windows, &limits_of_target(artist, email), now).await?;
        match self.total.admit_sign_in(history.is_known_mailbox, now).await? {
            Room::Open => Ok(email.clone()),
            Room::Kept(refusal) => Err(refusal),
        }
    }

    async fn ask_wallet(
        &self,
        request: &Request,
        artist: ArtistId,
        proven: &ProvenAct,
        address: Address,
        chain: ChainId,
        now: Duration,
    ) -> Result<AskProofResponse, ApiError> {
        let profile = self.artists.profile(artist).await?.ok_or_else(no_artist)?;
        let old = self.artists.old_wallets(&profile, now.as_secs()).await?;
        let Some(wallet) = old.into_iter().find(|wallet| wallet.address == address) else {
            return Err(ApiError::invalid_field(
                "address",
                "must be a wallet that you began with, or connected with a proof at least a day ago",
            ));
        };
        let purpose = Purpose::Prove(proven.act(), profile.artist.embedded_wallet);
        let challenger = Challenger::new(self.address.of(request)?);
        let message = challenger.message(address, wallet.chain.unwrap_or(chain), purpose, now)?;
        let challenge = ProofChallenge::Wallet { wallet: address, message_hash: message.hash(), chain: wallet.chain };
        let proof = self.ask(artist, proven, challenge, now).await?;
        let message = Some(message.as_str().to_owned());
        Ok(AskProofResponse { proof, way: ProofWay::Wallet, message, public_key: None })
    }

    async fn ask_passkey(
        &self,
        request: &Request,
        artist: ArtistId,
        proven: &ProvenAct,
        now: Duration,
    ) -> Result<AskProofResponse, ApiError> {
        let passkeys = self.passkeys.list(artist, now.as_secs()).await?;
        let is_only_own = matches!(proven, ProvenAct::KeepPasskey(_));
        let counts = passkeys.iter().filter(|passkey| {
            proven.own_passkey() == Some(&passkey.id) || !is_only_own && passkey.proves(now.as_secs())
        });
        let passkeys = counts.map(credential_of).collect::<Result<Vec<_>, _>>()?;
        if passkeys.is_empty() {
            return Err(ApiError::unprocessable(
                "You have no passkey that counts: it does a day after it was added, unless it is to be removed",
            ));
        }
        let (options, state) = assertion(&relying_party(&self.address.of(request)?)?, &passkeys)?;
        let state = serde_json::to_string(&state).map_err(ApiError::internal)?;
        let proof = self.ask(artist, proven, ProofChallenge::Passkey { state, by: None }, now).await?;
        Ok(AskProofResponse { proof, way: ProofWay::Passkey, message: None, public_key: Some(options) })
    }

    async fn ask(
        &self,
        artist: ArtistId,
        proven: &ProvenAct,
        challenge: ProofChallenge,
        now: Duration,
    ) -> Result<ProofId, ApiError> {
        let proof = ProofId::random();
        self.proofs.put(proof, &StoredProof::new(artist, proven, challenge, now)).await?;
        Ok(proof)
    }
}

/// What a passkey or wallet of today signed in, or a stolen passkey, uses up none of what the owner's other sign-ins have.
fn limits_of_asker(token: &VerifiedToken, way: ProofWay) -> [Limit; 2] {
    let means = match &token.means {
        Means::Passkey(id) => id.to_string(),
        Means::YoungWallet => "young".to_owned(),
        Means::Other => "other".to_owned(),
    };
    let (kind, hourly, daily) = if way == ProofWay::Email { ("mail", 5, 20) } else { ("answer", 20, 60) };
    let limit = |name: &str, max: u32, window: Duration| Limit {
        subject: format!("proof#{name}#{}#{means}#{kind}", token.artist),
        max,
        window,
        message: "You asked for many proofs: give the newest one, or wait",
    };
    [limit("artist", hourly, HOUR), limit("artist#day", daily, DAY)]
}

/// Whoever has many accounts mails one mailbox no more.
fn limits_of_target(artist: ArtistId, email: &Email) -> [Limit; 2] {
    let mailbox = email.mailbox();
    let limit = |subject: String, max: u32| Limit {
        subject: format!("proof#mailbox#{subject}"),
        max,
        window: DAY,
        message: "Codes were sent to this address: use the newest one, or wait",
    };
    [limit(format!("{artist}#{mailbox}"), 3), limit(mailbox, 10)]
}
