//! `POST /moment/migrate`: makes the artist's external wallet an admin of every collection that their embedded wallet
//! administers, so that artists can leave the service with their work. No token moves.

mod grants;

use moments::migrate_moments::MigrateMomentsRequest;
use shared::{
    api::{activity::ActivityLog, transact::TransactionService},
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{ActivityKind, Address, ArtistId, Scope, WalletType},
    store::{
        artist::{ArtistTable, Artists},
        chain::{ChainTable, Moments},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<MigrateMoments>().await
}

struct MigrateMoments {
    service: TransactionService,
    artists: Artists,
    moments: Moments,
    activity: ActivityLog,
}

impl Endpoint for MigrateMoments {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let (artists, moments) =
            (Artists::new(ArtistTable::from_env(&aws)?), Moments::new(ChainTable::from_env(&aws)?));
        let activity = ActivityLog::from_env(&aws)?;
        Ok(Self { service: TransactionService::from_env().await?, artists, moments, activity })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Publish).await?;
        let MigrateMomentsRequest { chain_id } = request.json_or_empty()?.read_for(&self.service)?;
        let mut migrated = None;
        let answer = self
            .service
            .transact_each(request, caller, chain_id, async |session| {
                let wallet = self.external_wallet(caller.artist).await?;
                let missing = grants::missing(&self.moments, session, wallet).await?;
                migrated = Some(wallet).filter(|_| !missing.is_empty());
                Ok(missing)
            })
            .await;
        // A batch that fails, or that a thief takes back, undoes none of the others.
        let is_begun = answer.as_ref().map_or_else(ApiError::is_begun, |_| true);
        if let Some(wallet) = migrated.filter(|_| is_begun) {
            self.activity.note(request, caller.artist, ActivityKind::Migrated, &wallet.to_string()).await;
        }
        answer
    }
}

impl MigrateMoments {
    /// The first connected wallet with a key. A contract wallet won't do: its address may belong to another owner on another
    /// chain.
    async fn external_wallet(&self, artist: ArtistId) -> Result<Address, ApiError> {
        let profile = self.artists.profile(artist).await?;
        let wallets = profile.map(|profile| profile.wallets).unwrap_or_default();
        let external = wallets.into_iter().find(|wallet| wallet.r#type == WalletType::External);
        external.map(|wallet| wallet.address).ok_or_else(|| {
            ApiError::conflict(
                "You have no external wallet to migrate to: connect one with POST /artists/wallets/challenge \
                 and POST /artists/wallets",
            )
        })
    }
}
