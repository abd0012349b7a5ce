//! Connecting a wallet: the challenge that its owner signed is consumed in the transaction that connects it.

use crate::{
    model::{ArtistId, Wallet},
    store::{
        artist::artists::{Artists, Profile, WalletRefusal},
        engine::table::{ArtistTable, SecretTable, StoreError},
        secret::challenges::{Challenges, StoredChallenge},
    },
};

/// Connects wallets.
#[derive(Clone)]
pub struct WalletConnections {
    artists: Artists,
    challenges: Challenges,
}

impl WalletConnections {
    /// Artists and their wallets are in the artist table, challenges in the secret table.
    pub fn new(artists: ArtistTable, secrets: SecretTable) -> Self {
        Self { artists: Artists::new(artists), challenges: Challenges::new(secrets) }
    }

    /// Connects a wallet to an artist and consumes the challenge. One read and one transaction.
    pub async fn connect(
        &self,
        artist: ArtistId,
        wallet: Wallet,
        challenge: &StoredChallenge,
        now: u64,
    ) -> Result<Result<Profile, WalletRefusal>, StoreError> {
        let redemption = self.challenges.redemption(challenge)?;
        self.artists.connect_wallet(artist, wallet, challenge.chain, &redemption, now).await
    }
}
