//! Changing the mail address: the proofs of both mailboxes, or of another way in, are used up in the transaction that has the
//! new one take the old one's place.

use super::proof_checks::ProofChecks;
use crate::{
    model::{ArtistId, Email, ProofId, ProvenAct},
    store::{
        artist::artists::{Artists, ContactRefusal, NextEmail},
        engine::table::{ArtistTable, SecretTable, StoreError},
        secret::{passkeys::Passkeys, proofs::ProofChallenge},
    },
};

/// Changes artists' mail addresses.
#[derive(Clone)]
pub struct EmailChanges {
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

impl EmailChanges {
    /// Mail addresses are in the artist table, proofs and passkeys in the secret table.
    pub fn new(artists: ArtistTable, secrets: SecretTable) -> Self {
        Self {
            artists: Artists::new(artists.clone()),
            passkeys: Passkeys::new(secrets.clone()),
            checks: ProofChecks::new(artists, secrets),
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
        match (own.challenge, &contact.email) {
            (ProofChallenge::Email { .. }, Some(old)) => writes.push(self.checks.stopped.not_stopped(old, now)?),
            (ProofChallenge::Passkey { .. }, _) => writes.push(self.passkeys.unchanged_mark(artist, &mark)?),
            _ => {}
        }
        let changed = self.artists.change_email(profile.artist, &contact, email, writes, now).await?;
        Ok(changed.map_err(|refusal| match refusal {
            ContactRefusal::Unproved(0) => EmailRefusal::NewUnproved,
            ContactRefusal::Unproved(_) => EmailRefusal::OwnUnproved,
            refusal => EmailRefusal::Contact(refusal),
        }))
    }
}
