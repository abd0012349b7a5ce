//! Erases accounts whose artists asked for it a week ago, on a schedule. A run may end at any line: every step can be
//! repeated, and the artist's request is deleted last.

use lambda_runtime::LambdaEvent;
use shared::{
    chain::Chains,
    clock,
    config::{self, StartError},
    model::{ArtistId, ChainId},
    store::{
        StoreError,
        across::{Person, PersonalData},
        artist::{ArtistTable, Artists, Deletion, Deletions, Transactions},
        secret::{ApiKeys, SecretTable},
    },
    telemetry::{
        self,
        trace::{self, ScheduledEvent},
    },
};

/// Seconds without pending transactions before rows are erased: blocks are final by then.
const QUIET_TIME: u64 = 60 * 60;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let eraser = &Eraser::from_env().await?;
    trace::run(move |_: LambdaEvent<ScheduledEvent>| eraser.run()).await
}

struct Eraser {
    deletions: Deletions,
    artists: Artists,
    transactions: Transactions,
    keys: ApiKeys,
    rows: PersonalData,
    chains: Vec<ChainId>,
}

impl Eraser {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let (artists, secrets) = (ArtistTable::from_env(&aws)?, SecretTable::from_env(&aws)?);
        Ok(Self {
            deletions: Deletions::new(artists.clone()),
            artists: Artists::new(artists.clone()),
            transactions: Transactions::new(artists.clone()),
            keys: ApiKeys::new(secrets.clone()),
            rows: PersonalData::new(artists, secrets),
            chains: Chains::from_env()?.iter().map(|chain| chain.id).collect(),
        })
    }

    /// One account that can't be erased doesn't hold up the others.
    async fn run(&self) -> Result<(), StartError> {
        let now = clock::now()?.as_secs();
        let mut failed = None;
        for deletion in self.deletions.due(now).await? {
            if let Err(error) = self.advance(&deletion, now).await {
                tracing::error!(artist.id = %deletion.artist_id, error = telemetry::chain(&error), "account not erased");
                failed = Some(error);
            }
        }
        failed.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Takes the next step of a deletion.
    async fn advance(&self, deletion: &Deletion, now: u64) -> Result<(), StoreError> {
        let artist = deletion.artist_id;
        let (profile, contact) = (self.artists.profile(artist).await?, self.artists.contact(artist, now).await?);
        let Some(profile) = profile else { return self.finish(artist).await };
        let Some(quiet_since) = deletion.begun_at else {
            if self.deletions.begin(artist, &contact, now).await? {
                self.keys.revoke_all(artist).await?;
            }
            return Ok(());
        };
        if self.keys.revoke_all(artist).await? || self.transactions.are_waiting(artist).await? {
            return self.deletions.postpone(artist, now).await;
        }
        if quiet_since + QUIET_TIME > now {
            return Ok(());
        }
        let wallets = profile.wallets.iter().map(|wallet| wallet.address).collect();
        self.rows.erase(&Person { artist, email: contact.email, wallets, chains: self.chains.clone() }).await?;
        self.finish(artist).await
    }

    async fn finish(&self, artist: ArtistId) -> Result<(), StoreError> {
        // Another run may have been faster.
        if !self.deletions.finish(artist).await? && self.artists.profile(artist).await?.is_some() {
            return Err(StoreError::Contention("a profile"));
        }
        tracing::info!(artist.id = %artist, "account erased");
        Ok(())
    }
}
