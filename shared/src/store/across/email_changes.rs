//! Changing the mail address: the proofs of both mailboxes, or of another way in, are used up in the transaction that has the
//! new one take the old one's place.

use super::proof_checks::ProofChecks;
use crate::{
    model::{ArtistId, Email, ProofId, ProvenAct},
    store::{
        artist::artists::{Artists, ChangedBy, ContactRefusal, NextEmail},
        engine::table::{ArtistTable, SecretTable, StoreError},
        secret::{passkeys::Passkeys, proofs::ProofChallenge},
    },
};

/// Changes artists' mail addresses.
#[derive(Clone)]
pub struct EmailChanges {
    secrets: SecretTable,
    artists: Artists,
    passkeys: Passkeys,
    checks: ProofChecks,
}

/// What proves a change of the mail address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmailProofs {
    /// That the new mailbox is the artist's.
    pub new: ProofId,
    /// That it is the artist who changes it.
    pub own: ProofId,
}

/// Why a mail address isn't changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmailRefusal {
    /// The artist does not exist.
    Gone,
    /// The new mailbox isn't proved.
    NewUnproved,
    /// That it is the artist isn't.
    OwnUnproved,
    /// By whose it is, or what is under way.
    Contact(ContactRefusal),
}

/// Why a change of the mail address isn't stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepRefusal {
    /// None is under way.
    Unchanged,
    /// It takes a proof by a wallet or a passkey that counts.
    Unproved,
}

impl EmailChanges {
    /// Mail addresses are in the artist table, proofs and passkeys in the secret table.
    pub fn new(artists: ArtistTable, secrets: SecretTable) -> Self {
        Self {
            artists: Artists::new(artists.clone()),
            passkeys: Passkeys::new(secrets.clone()),
            checks: ProofChecks::new(artists, secrets.clone()),
            secrets,
        }
    }

    /// Has an address take the place of the artist's, seven days from `now` (Unix seconds). Six to eight reads and a
    /// transaction.
    pub async fn change(
        &self,
        artist: ArtistId,
        email: &Email,
        proofs: EmailProofs,
        now: u64,
    ) -> Result<Result<NextEmail, EmailRefusal>, StoreError> {
        let Some(profile) = self.artists.profile(artist).await? else { return Ok(Err(EmailRefusal::Gone)) };
        if !self.checks.is_new_mailbox_proved(artist, proofs.new, email, now).await? {
            return Ok(Err(EmailRefusal::NewUnproved));
        }
        let (mark, proven) = (self.passkeys.mark(artist).await?, ProvenAct::ChangeEmail(email.clone()));
        let Some(own) = self.checks.counting(artist, proofs.own, &proven, &mark, now).await? else {
            return Ok(Err(EmailRefusal::OwnUnproved));
        };
        let contact = self.artists.contact(artist, now).await?;
        let mut writes =
            vec![self.checks.proofs.redemption(proofs.new, now)?, self.checks.proofs.redemption(proofs.own, now)?];
        match (&own.challenge, &contact.email) {
            (ProofChallenge::Email { .. }, Some(old)) => writes.push(self.checks.stopped.not_stopped(old, now)?),
            (ProofChallenge::Passkey { .. }, _) => writes.push(self.passkeys.unchanged_mark(artist, &mark)?),
            _ => {}
        }
        let by = match own.challenge {
            ProofChallenge::Email { .. } | ProofChallenge::Passkey { by: None, .. } => None,
            ProofChallenge::Wallet { wallet, .. } => Some(ChangedBy::Wallet(wallet)),
            ProofChallenge::Passkey { by: Some(passkey), .. } => Some(ChangedBy::Passkey(passkey)),
        };
        let changed = self.artists.change_email(profile.artist, &contact, email, by, writes, now).await?;
        Ok(changed.map_err(|refusal| match refusal {
            ContactRefusal::Unproved(0) => EmailRefusal::NewUnproved,
            ContactRefusal::Unproved(_) => EmailRefusal::OwnUnproved,
            refusal => EmailRefusal::Contact(refusal),
        }))
    }

    /// Stops a change of the mail address that is under way at `now` (Unix seconds); one that a wallet or a passkey asked for
    /// takes a `proof` by such, so that whoever reads the mails doesn't keep the account. A read and a transaction; three to
    /// four reads more with a proof.
    pub async fn keep(
        &self,
        artist: ArtistId,
        proof: Option<ProofId>,
        now: u64,
    ) -> Result<Result<(), KeepRefusal>, StoreError> {
        let contact = self.artists.contact(artist, now).await?;
        let Some(next) = &contact.next else { return Ok(Err(KeepRefusal::Unchanged)) };
        let mut writes = self.artists.keeping_email(artist, contact.email.as_ref(), next)?;
        let of_proof = writes.len();
        if next.by.is_some() {
            let Some(proof) = proof else { return Ok(Err(KeepRefusal::Unproved)) };
            let (mark, proven) = (self.passkeys.mark(artist).await?, ProvenAct::KeepEmail(next.email.clone()));
            if self.checks.counting(artist, proof, &proven, &mark, now).await?.is_none() {
                return Ok(Err(KeepRefusal::Unproved));
            }
            writes.push(self.checks.proofs.redemption(proof, now)?);
        }
        Ok(self
            .secrets
            .write_or_failed(writes)
            .await?
            .map_err(|failed| if failed.contains(&of_proof) { KeepRefusal::Unproved } else { KeepRefusal::Unchanged }))
    }
}
