//! Connecting a wallet: the challenge that its owner signed is consumed in the transaction that connects it, and so is the
//! proof by an old way in, without which the wallet signs in but doesn't count.

use super::proof_checks::ProofChecks;
use crate::{
    model::{Address, ArtistId, ProofId, ProvenAct, Wallet},
    store::{
        artist::artists::{Artists, ConnectionProof, Profile, WalletRefusal},
        engine::table::{ArtistTable, SecretTable, StoreError},
        secret::{
            challenges::{Challenges, StoredChallenge},
            passkeys::Passkeys,
        },
    },
};

/// Connects wallets.
#[derive(Clone)]
pub struct WalletConnections {
    artists: Artists,
    challenges: Challenges,
    passkeys: Passkeys,
    checks: ProofChecks,
}

impl WalletConnections {
    /// Artists and their wallets are in the artist table, challenges, passkeys and proofs in the secret table.
    pub fn new(artists: ArtistTable, secrets: SecretTable) -> Self {
        Self {
            artists: Artists::new(artists.clone()),
            challenges: Challenges::new(secrets.clone()),
            passkeys: Passkeys::new(secrets.clone()),
            checks: ProofChecks::new(artists, secrets),
        }
    }

    /// Whether a wallet of the artist is to be disconnected. One read.
    pub async fn is_leaving(&self, artist: ArtistId, wallet: Address) -> Result<bool, StoreError> {
        let profile = self.artists.profile(artist).await?;
        Ok(profile.is_some_and(|profile| profile.leaves_at(wallet).is_some()))
    }

    /// Connects a wallet to an artist and consumes the challenge; `proof` has it count as a way in. One read and one
    /// transaction; three to five reads more with a proof.
    pub async fn connect(
        &self,
        artist: ArtistId,
        wallet: Wallet,
        challenge: &StoredChallenge,
        proof: Option<ProofId>,
        now: u64,
    ) -> Result<Result<Profile, WalletRefusal>, StoreError> {
        let challenged = self.challenges.redemption(challenge)?;
        let mut proved = ConnectionProof { challenge: challenged, old_way_in: None, was_unproved: false };
        if let Some(proof) = proof {
            let (mark, proven) = (self.passkeys.mark(artist).await?, ProvenAct::ConnectWallet(wallet.address));
            if self.checks.counting(artist, proof, &proven, &mark, now).await?.is_none() {
                return Ok(Err(WalletRefusal::Unproved));
            }
            proved.old_way_in = Some(self.checks.proofs.redemption(proof, now)?);
            proved.was_unproved = self.artists.is_unproved(artist, wallet.address).await?;
        }
        self.artists.connect_wallet(artist, wallet, challenge.chain, &proved, now).await
    }
}
