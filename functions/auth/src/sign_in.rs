//! What every sign-in by mail does once it is proved: finds or creates the artist, issues a token, and remembers the
//! device.

use std::time::Duration;

use shared::{
    api::{activity::ActivityRetention, notice::NoticeMailer},
    auth::token::TokenIssuer,
    chain::wallet::{EmbeddedWallet, OperatorAccount},
    config::StartError,
    http::{ApiError, Request},
    model::{ActivityKind, Address, ArtistId, DeviceId, DeviceToken, Email},
    store::{
        StoreError,
        artist::{Activities, Artist, ArtistTable, Artists, Cancelled, Deletions},
        secret::{Devices, FailedCodes, SecretTable},
    },
    telemetry::{self, Metric},
};

/// Signs artists in.
pub struct SignIn {
    artists: Artists,
    deletions: Deletions,
    operator: OperatorAccount,
    tokens: TokenIssuer,
    activities: Activities,
    retention: ActivityRetention,
    failed_codes: FailedCodes,
    devices: Devices,
    notices: NoticeMailer,
}

/// A sign-in that waits for its code or link to be used up.
pub struct Session {
    /// The access token.
    pub token: String,
    /// The artist's embedded wallet.
    pub wallet: Address,
    artist: ArtistId,
    cancelled: Cancelled,
}

/// The device of a sign-in.
pub enum SignInDevice {
    /// One that is known.
    Known(DeviceId),
    /// One that is to be known from now on.
    New,
    /// One that nobody asked to remember.
    Unknown,
}

impl SignIn {
    /// Reads what its parts do.
    pub fn from_env(aws: &aws_config::SdkConfig, secrets: &SecretTable) -> Result<Self, StartError> {
        let table = ArtistTable::from_env(aws)?;
        Ok(Self {
            artists: Artists::new(table.clone()),
            deletions: Deletions::new(table.clone()),
            operator: OperatorAccount::from_env()?,
            tokens: TokenIssuer::from_env(aws)?,
            activities: Activities::new(table),
            retention: ActivityRetention::from_env()?,
            failed_codes: FailedCodes::new(secrets.clone()),
            devices: Devices::new(secrets.clone()),
            notices: NoticeMailer::from_env(aws, secrets.clone())?,
        })
    }

    /// Finds or creates the artist and issues a token. Two calls of DynamoDB, one more for a new artist; one of KMS.
    pub async fn open(&self, email: &Email, now: Duration) -> Result<Session, ApiError> {
        let (artist, cancelled) = self.sign_in(email, now).await?;
        let token = self.tokens.issue(artist.artist_id, now).await?;
        Ok(Session { token, wallet: artist.embedded_wallet, artist: artist.artist_id, cancelled })
    }

    /// Finds or creates the artist, and cancels the deletion of the account; if it has begun, the address gets a new
    /// account.
    async fn sign_in(&self, email: &Email, now: Duration) -> Result<(Artist, Cancelled), StoreError> {
        let artist = self.find_or_create(email, now).await?;
        match self.deletions.take_back(artist.artist_id).await? {
            Cancelled::TooLate => Ok((self.find_or_create(email, now).await?, Cancelled::Nothing)),
            cancelled => Ok((artist, cancelled)),
        }
    }

    async fn find_or_create(&self, email: &Email, now: Duration) -> Result<Artist, StoreError> {
        if let Some(artist) = self.artists.find_by_email(email).await? {
            return Ok(artist);
        }
        let artist_id = ArtistId::random();
        let wallet = EmbeddedWallet::new(self.operator.safe, artist_id);
        let artist = Artist { artist_id, embedded_wallet: wallet.address().into() };
        if self.artists.create(email, &artist, now.as_secs()).await? {
            return Ok(artist);
        }
        // A concurrent sign-in created the artist.
        self.artists.find_by_email(email).await?.ok_or(StoreError::Contention("artists"))
    }

    /// Records the sign-in, ends the streak of wrong codes and remembers the device, all at once; the token of a new one.
    /// Failures are only logged: the code or link is used up.
    pub async fn complete(
        &self,
        request: &Request,
        email: &Email,
        session: &Session,
        device: SignInDevice,
        now: Duration,
    ) -> Option<DeviceToken> {
        telemetry::count(Metric::SignIns);
        let activity = self.record(request, session.artist, ActivityKind::SignedIn);
        let cancellation = async {
            if session.cancelled == Cancelled::Done {
                self.record(request, session.artist, ActivityKind::DeletionCancelled).await;
                self.notices.send(request, email, session.artist, ActivityKind::DeletionCancelled, "").await;
            }
        };
        let reset = async { logged(request, self.failed_codes.reset(email, now.as_secs()).await) };
        let (.., token) = tokio::join!(activity, cancellation, reset, self.remember(request, email, device, now));
        token
    }

    async fn remember(
        &self,
        request: &Request,
        email: &Email,
        device: SignInDevice,
        now: Duration,
    ) -> Option<DeviceToken> {
        const MAX_AGENT: usize = 200;
        let (network, now) = (request.client_network(), now.as_secs());
        match device {
            SignInDevice::Unknown => None,
            SignInDevice::Known(id) => {
                logged(request, self.devices.note_use(email, &id, &network, now).await);
                None
            }
            SignInDevice::New => {
                let token = DeviceToken::random().ok()?;
                let agent = request.header("user-agent").unwrap_or_default().chars().take(MAX_AGENT).collect();
                logged(request, self.devices.remember(email, &token.id(), network, agent, now).await).map(|()| token)
            }
        }
    }

    async fn record(&self, request: &Request, artist: ArtistId, kind: ActivityKind) {
        let Ok(activity) = self.retention.activity(request, kind, "") else { return };
        logged(request, self.activities.record(artist, &activity).await);
    }
}

fn logged<T>(request: &Request, result: Result<T, StoreError>) -> Option<T> {
    result
        .inspect_err(|error| {
            tracing::error!(request.id = request.id(), error = telemetry::chain(error), "sign-in not recorded in full");
        })
        .ok()
}
