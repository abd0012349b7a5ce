//! Who may change the ways in: whoever gave a proof for exactly that, by a way in that counts still when the proof is used.

use crate::{
    model::{ArtistId, Email, ProofId, ProvenAct},
    store::{
        artist::artists::Artists,
        engine::table::{ArtistTable, SecretTable, StoreError},
        secret::{
            passkeys::PasskeyMark,
            proofs::{ProofChallenge, Proofs, StoredProof},
            stopped_mails::StoppedMails,
        },
    },
};

/// Tells proofs that count.
#[derive(Clone)]
pub(super) struct ProofChecks {
    pub(super) proofs: Proofs,
    artists: Artists,
    pub(super) stopped: StoppedMails,
}

impl ProofChecks {
    pub(super) fn new(artists: ArtistTable, secrets: SecretTable) -> Self {
        let (proofs, stopped) = (Proofs::new(secrets.clone()), StoppedMails::new(secrets));
        Self { proofs, artists: Artists::new(artists), stopped }
    }

    /// Returns a proof that the artist gave for this, by a code to the mailbox that counts, an old wallet's signature, or the
    /// answer of a passkey of the `mark`. One to three reads.
    pub(super) async fn counting(
        &self,
        artist: ArtistId,
        id: ProofId,
        proven: &ProvenAct,
        mark: &PasskeyMark,
        now: u64,
    ) -> Result<Option<StoredProof>, StoreError> {
        let Some(proof) = self.proofs.given(id, artist, proven, now).await? else { return Ok(None) };
        let counts = match &proof.challenge {
            ProofChallenge::Email { .. } if !proof.act.takes_code() => false,
            ProofChallenge::Email { email_hash, .. } => {
                let email = self.artists.contact(artist, now).await?.email;
                match email.filter(|email| email.fingerprint() == *email_hash) {
                    Some(email) => !self.stopped.is_stopped(&email, now).await?,
                    None => false,
                }
            }
            ProofChallenge::Wallet { wallet, chain, .. } => match self.artists.profile(artist).await? {
                Some(profile) => {
                    let old = self.artists.old_wallets(&profile, now).await?;
                    old.iter().any(|old| old.address == *wallet && old.chain == *chain)
                }
                None => false,
            },
            ProofChallenge::Passkey { by: Some(by), .. } => {
                mark.proves(by, now) || proven.own_passkey() == Some(by) && mark.find(by, now).is_some()
            }
            ProofChallenge::Passkey { by: None, .. } => false,
        };
        Ok(counts.then_some(proof))
    }

    /// Whether the artist proved to read the mails to a new address. One read.
    pub(super) async fn is_new_mailbox_proved(
        &self,
        artist: ArtistId,
        id: ProofId,
        email: &Email,
        now: u64,
    ) -> Result<bool, StoreError> {
        let proof = self.proofs.given(id, artist, &ProvenAct::NewEmail(email.clone()), now).await?;
        Ok(proof.is_some_and(|proof| match proof.challenge {
            ProofChallenge::Email { email_hash, .. } => email_hash == email.fingerprint(),
            _ => false,
        }))
    }
}
