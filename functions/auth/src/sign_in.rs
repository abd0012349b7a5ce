//! What every sign-in does once it is proved: finds or creates the artist, issues a token, and records it; by mail, it
//! remembers the device, too.

use std::time::Duration;

use shared::{
    api::activity::ActivityLog,
    auth::token::{IssuedToken, LIFETIME, Means, TokenIssuer},
    chain::wallet::{EmbeddedWallet, OperatorAccount},
    clock,
    config::StartError,
    http::{ApiError, Request},
    model::{ActivityKind, Address, ArtistId, ChainId, DeviceId, DeviceToken, Email, PasskeyId, Wallet},
    store::{
        StoreError,
        artist::{Artist, ArtistTable, Artists, Cancelled, Deletions, EmailOwner, WalletOwner},
        secret::{self, Devices, FailedCodes, SecretTable, Sessions},
    },
    telemetry::{self, Metric},
};

/// Signs artists in.
pub struct SignIn {
    artists: Artists,
    deletions: Deletions,
    operator: OperatorAccount,
    tokens: TokenIssuer,
    sessions: Sessions,
    activity: ActivityLog,
    failed_codes: FailedCodes,
    devices: Devices,
}

/// A sign-in that waits for its code, link or message to be used up.
pub struct Session {
    /// The access token.
    pub token: IssuedToken,
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
            deletions: Deletions::new(table),
            operator: OperatorAccount::from_env()?,
            tokens: TokenIssuer::from_env(aws)?,
            sessions: Sessions::new(secrets.clone()),
            activity: ActivityLog::from_env(aws)?,
            failed_codes: FailedCodes::new(secrets.clone()),
            devices: Devices::new(secrets.clone()),
        })
    }

    /// Finds or creates the artist of a mail address and issues a token; 409 for an address that is to be an artist's. Two calls of DynamoDB, two more for a new artist;
    /// one of KMS.
    pub async fn open(&self, email: &Email, now: Duration) -> Result<Session, ApiError> {
        let artist = self.find_or_create(email, now).await?;
        match self.deletions.take_back(artist.artist_id).await? {
            // The erasure has begun: the address gets a new account.
            Cancelled::TooLate => {
                self.issue(self.find_or_create(email, now).await?, Means::Other, Cancelled::Nothing, now).await
            }
            cancelled => self.issue(artist, Means::Other, cancelled, now).await,
        }
    }

    /// The same for a wallet that proved itself on a chain: it is of the artist who connected it, or of a new one without a
    /// mail address. 403 for a wallet that can't sign in, 409 while its account is being erased. Three calls of DynamoDB,
    /// and one of KMS.
    pub async fn open_with_wallet(&self, wallet: Wallet, chain: ChainId, now: Duration) -> Result<Session, ApiError> {
        let (artist, means) = self.find_or_create_with_wallet(wallet, chain, now).await?;
        match self.deletions.take_back(artist.artist_id).await? {
            Cancelled::TooLate => {
                Err(ApiError::conflict("The account of this wallet is being erased: sign in again when that is done"))
            }
            cancelled => self.issue(artist, means, cancelled, now).await,
        }
    }

    /// The same for the artist whose passkey answered; `None` if the artist is gone. 409 while the account is being erased.
    pub async fn open_with_passkey(
        &self,
        artist: ArtistId,
        passkey: PasskeyId,
        now: Duration,
    ) -> Result<Option<Session>, ApiError> {
        let Some(profile) = self.artists.profile(artist).await? else { return Ok(None) };
        match self.deletions.take_back(artist).await? {
            Cancelled::TooLate => Err(ApiError::conflict("The account is being erased")),
            cancelled => self.issue(profile.artist, Means::Passkey(passkey), cancelled, now).await.map(Some),
        }
    }

    async fn issue(
        &self,
        artist: Artist,
        means: Means,
        cancelled: Cancelled,
        now: Duration,
    ) -> Result<Session, ApiError> {
        let token = self.tokens.issue(artist.artist_id, means, now).await?;
        Ok(Session { token, wallet: artist.embedded_wallet, artist: artist.artist_id, cancelled })
    }

    async fn find_or_create(&self, email: &Email, now: Duration) -> Result<Artist, ApiError> {
        let now = now.as_secs();
        match self.artists.find_by_email(email, now).await? {
            EmailOwner::Artist(artist) => return Ok(artist),
            EmailOwner::From(from) => {
                let from = clock::iso_8601(from)?;
                return Err(ApiError::conflict(format!("This address signs in to an account from {from} on")));
            }
            EmailOwner::Nobody => {}
        }
        let reserved = self.artists.reserved(email, now).await?;
        for artist in reserved.into_iter().chain([self.new_artist()]) {
            if self.artists.create(email, &artist, now).await? {
                return Ok(artist);
            }
            // A concurrent sign-in created the artist.
            if let EmailOwner::Artist(artist) = self.artists.find_by_email(email, now).await? {
                return Ok(artist);
            }
        }
        Err(StoreError::Contention("artists").into())
    }

    async fn find_or_create_with_wallet(
        &self,
        wallet: Wallet,
        chain: ChainId,
        now: Duration,
    ) -> Result<(Artist, Means), ApiError> {
        let owner = async || self.artists.find_by_wallet(wallet, chain, now.as_secs()).await;
        let known = |artist, is_young| (artist, if is_young { Means::YoungWallet } else { Means::Other });
        let refused = || {
            ApiError::forbidden(
                "This wallet can't sign in: it is an account of this service, or a contract that was connected on \
                 another chain",
            )
        };
        match owner().await? {
            WalletOwner::Artist { artist, is_young } => return Ok(known(artist, is_young)),
            WalletOwner::Other => return Err(refused()),
            WalletOwner::Nobody => {}
        }
        let artist = self.new_artist();
        if self.artists.create_with_wallet(&artist, wallet, chain, now.as_secs()).await? {
            return Ok((artist, Means::Other));
        }
        // A concurrent sign-in created the artist, or one connected the wallet.
        match owner().await? {
            WalletOwner::Artist { artist, is_young } => Ok(known(artist, is_young)),
            WalletOwner::Other => Err(refused()),
            WalletOwner::Nobody => Err(StoreError::Contention("artists").into()),
        }
    }

    fn new_artist(&self) -> Artist {
        let artist_id = ArtistId::random();
        let wallet = EmbeddedWallet::new(self.operator.safe, artist_id);
        Artist { artist_id, embedded_wallet: wallet.address().into() }
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
        let reset = async { logged(request, self.failed_codes.reset(email, now.as_secs()).await) };
        let (.., token) =
            tokio::join!(self.record(request, session, now), reset, self.remember(request, email, device, now));
        token
    }

    /// Records the sign-in and who holds its token, and that it took the account's deletion back.
    pub async fn record(&self, request: &Request, session: &Session, now: Duration) {
        telemetry::count(Metric::SignIns);
        let held = secret::Session {
            id: session.token.id,
            issued_at: now.as_secs(),
            expires_at: (now + LIFETIME).as_secs(),
            network: request.client_network(),
            agent: agent(request),
        };
        let open = async { logged(request, self.sessions.open(session.artist, &held).await) };
        tokio::join!(self.activity.note(request, session.artist, ActivityKind::SignedIn, ""), open);
        if session.cancelled == Cancelled::Done {
            self.activity.note(request, session.artist, ActivityKind::DeletionCancelled, "").await;
        }
    }

    async fn remember(
        &self,
        request: &Request,
        email: &Email,
        device: SignInDevice,
        now: Duration,
    ) -> Option<DeviceToken> {
        let (network, now) = (request.client_network(), now.as_secs());
        match device {
            SignInDevice::Unknown => None,
            SignInDevice::Known(id) => {
                logged(request, self.devices.note_use(email, &id, &network, now).await);
                None
            }
            SignInDevice::New => {
                let token = DeviceToken::random().ok()?;
                let remembered = self.devices.remember(email, &token.id(), network, agent(request), now).await;
                logged(request, remembered).map(|()| token)
            }
        }
    }
}

/// What the client calls itself.
fn agent(request: &Request) -> String {
    const MAX: usize = 200;
    request.header("user-agent").unwrap_or_default().chars().take(MAX).collect()
}

fn logged<T>(request: &Request, result: Result<T, StoreError>) -> Option<T> {
    result
        .inspect_err(|error| {
            tracing::error!(request.id = request.id(), error = telemetry::chain(error), "sign-in not recorded in full");
        })
        .ok()
}
