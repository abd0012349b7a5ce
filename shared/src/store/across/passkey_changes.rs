//! Adding, removing and keeping a passkey: one transaction over the passkey, the mark that tokens are judged by, the proof
//! that is used up, and another way in that stays.

use super::{
    proof_checks::ProofChecks,
    ways_in::{ATTEMPTS, WaysIn},
};
use crate::{
    model::{ArtistId, CeremonyId, PasskeyId, ProofId, ProvenAct},
    store::{
        artist::artists::ChangedBy,
        engine::table::{ArtistTable, SecretTable, StoreError, WriteReason, backoff},
        secret::{
            passkeys::{MAX_PASSKEYS, MarkedPasskey, Passkeys, REMOVAL_DELAY, StoredPasskey},
            proofs::ProofChallenge,
        },
    },
};

/// Changes artists' passkeys.
#[derive(Clone)]
pub struct PasskeyChanges {
    secrets: SecretTable,
    passkeys: Passkeys,
    checks: ProofChecks,
    ways_in: WaysIn,
}

/// Why a passkey isn't changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasskeyRefusal {
    /// The artist has no such passkey.
    Unknown,
    /// The artist has it already.
    Known,
    /// The artist already has [`MAX_PASSKEYS`].
    TooMany,
    /// It isn't to be removed.
    Stays,
    /// The artist has no other way in that counts.
    LastWayIn,
    /// The proof is of something else, was used, or is by a way in that doesn't count.
    Unproved,
    /// Of the proofs that it stays, none is by itself, or none by a code or a wallet.
    OneSided,
}

/// How a try to write ends; `None` if another change was faster.
type Outcome = Option<Result<(), PasskeyRefusal>>;

impl PasskeyChanges {
    /// Passkeys and proofs are in the secret table, mail addresses and wallets in the artist table.
    pub fn new(artists: ArtistTable, secrets: SecretTable) -> Self {
        Self {
            passkeys: Passkeys::new(secrets.clone()),
            checks: ProofChecks::new(artists.clone(), secrets.clone()),
            ways_in: WaysIn::new(artists, secrets.clone()),
            secrets,
        }
    }

    /// Adds a passkey that was made in a ceremony; one that is to be removed is replaced. `now` is in Unix seconds. Two to
    /// five reads and one transaction.
    pub async fn add(
        &self,
        artist: ArtistId,
        passkey: &StoredPasskey,
        ceremony: CeremonyId,
        proof: ProofId,
        now: u64,
    ) -> Result<Result<(), PasskeyRefusal>, StoreError> {
        for attempt in 0..ATTEMPTS {
            if let Some(ended) = self.try_to_add(artist, passkey, ceremony, proof, now).await? {
                return Ok(ended);
            }
            tokio::time::sleep(backoff(attempt)).await;
        }
        Err(StoreError::Contention("ways in"))
    }

    async fn try_to_add(
        &self,
        artist: ArtistId,
        passkey: &StoredPasskey,
        ceremony: CeremonyId,
        proof: ProofId,
        now: u64,
    ) -> Result<Outcome, StoreError> {
        let mark = self.passkeys.mark_or_stored(artist, now).await?;
        let proven = ProvenAct::AddPasskey(ceremony);
        if self.checks.counting(artist, proof, &proven, &mark, now).await?.is_none() {
            return Ok(Some(Err(PasskeyRefusal::Unproved)));
        }
        if mark.find(&passkey.id, now).is_some_and(|known| known.expires_at.is_none()) {
            return Ok(Some(Err(PasskeyRefusal::Known)));
        }
        let mut passkeys: Vec<_> = mark.live(now).filter(|known| known.id != passkey.id).cloned().collect();
        if passkeys.len() >= MAX_PASSKEYS {
            return Ok(Some(Err(PasskeyRefusal::TooMany)));
        }
        passkeys.push(passkey.marked());
        let writes = vec![
            self.checks.proofs.redemption(proof, now)?,
            self.passkeys.marking(artist, &mark, passkeys, now)?,
            self.passkeys.addition(artist, passkey)?,
        ];
        Ok(outcome(1, self.secrets.write_or_reasons(writes).await?))
    }

    /// Removes a passkey: at once while it is younger than a day, or by an answer of it or of one that counts; else a week
    /// from `now` (Unix seconds). A change of the mail address that it asked for is stopped, unless the mailbox alone proves
    /// this. Two to ten reads and one transaction.
    pub async fn remove(
        &self,
        artist: ArtistId,
        id: &PasskeyId,
        proof: ProofId,
        now: u64,
    ) -> Result<Result<(), PasskeyRefusal>, StoreError> {
        for attempt in 0..ATTEMPTS {
            if let Some(ended) = self.try_to_remove(artist, id, proof, now).await? {
                return Ok(ended);
            }
            tokio::time::sleep(backoff(attempt)).await;
        }
        Err(StoreError::Contention("ways in"))
    }

    async fn try_to_remove(
        &self,
        artist: ArtistId,
        id: &PasskeyId,
        proof: ProofId,
        now: u64,
    ) -> Result<Outcome, StoreError> {
        let mark = self.passkeys.mark_or_stored(artist, now).await?;
        let Some(marked) = mark.find(id, now) else { return Ok(Some(Err(PasskeyRefusal::Unknown))) };
        let proven = ProvenAct::RemovePasskey(id.clone());
        let Some(given) = self.checks.counting(artist, proof, &proven, &mark, now).await? else {
            return Ok(Some(Err(PasskeyRefusal::Unproved)));
        };
        let Some(others) = self.ways_in.besides_passkey(artist, id, &mark, now).await? else {
            return Ok(Some(Err(PasskeyRefusal::LastWayIn)));
        };
        let is_young = marked.counts_from > now;
        let is_at_once = is_young || matches!(given.challenge, ProofChallenge::Passkey { .. });
        let rest = mark.live(now).filter(|known| known.id != *id).cloned();
        let (passkey, left): (_, Vec<_>) = if is_at_once {
            (self.passkeys.removal(artist, id)?, rest.collect())
        } else {
            let end = marked.expires_at.unwrap_or(now + REMOVAL_DELAY);
            let leaving = MarkedPasskey { expires_at: Some(end), ..marked.clone() };
            (self.passkeys.ending(artist, id, Some(end))?, rest.chain([leaving]).collect())
        };
        let mut writes =
            vec![self.checks.proofs.redemption(proof, now)?, self.passkeys.marking(artist, &mark, left, now)?, passkey];
        writes.extend(others);
        if !matches!(given.challenge, ProofChallenge::Email { .. }) {
            let passkey = ChangedBy::Passkey(id.clone());
            writes.extend(self.ways_in.artists.without_change_by(artist, &passkey, now).await?);
        }
        Ok(outcome(1, self.secrets.write_or_reasons(writes).await?))
    }

    /// Keeps a passkey that is to be removed, by its own answer and a code or a wallet's signature. `now` is in Unix
    /// seconds. Three to eight reads and one transaction.
    pub async fn keep(
        &self,
        artist: ArtistId,
        id: &PasskeyId,
        proofs: &[ProofId],
        now: u64,
    ) -> Result<Result<(), PasskeyRefusal>, StoreError> {
        for attempt in 0..ATTEMPTS {
            if let Some(ended) = self.try_to_keep(artist, id, proofs, now).await? {
                return Ok(ended);
            }
            tokio::time::sleep(backoff(attempt)).await;
        }
        Err(StoreError::Contention("ways in"))
    }

    async fn try_to_keep(
        &self,
        artist: ArtistId,
        id: &PasskeyId,
        proofs: &[ProofId],
        now: u64,
    ) -> Result<Outcome, StoreError> {
        let mark = self.passkeys.mark_or_stored(artist, now).await?;
        let Some(marked) = mark.find(id, now) else { return Ok(Some(Err(PasskeyRefusal::Unknown))) };
        if marked.expires_at.is_none() {
            return Ok(Some(Err(PasskeyRefusal::Stays)));
        }
        let proven = ProvenAct::KeepPasskey(id.clone());
        let (mut is_by_itself, mut is_by_another) = (false, false);
        let mut writes = Vec::new();
        for proof in proofs {
            let Some(given) = self.checks.counting(artist, *proof, &proven, &mark, now).await? else {
                return Ok(Some(Err(PasskeyRefusal::Unproved)));
            };
            match given.challenge {
                ProofChallenge::Passkey { by, .. } => is_by_itself |= by.as_ref() == Some(id),
                ProofChallenge::Email { .. } | ProofChallenge::Wallet { .. } => is_by_another = true,
            }
            writes.push(self.checks.proofs.redemption(*proof, now)?);
        }
        if !is_by_itself || !is_by_another {
            return Ok(Some(Err(PasskeyRefusal::OneSided)));
        }
        let kept = |known: &MarkedPasskey| {
            let expires_at = if known.id == *id { None } else { known.expires_at };
            MarkedPasskey { expires_at, ..known.clone() }
        };
        let redeemed = writes.len();
        writes.push(self.passkeys.marking(artist, &mark, mark.live(now).map(kept).collect(), now)?);
        writes.push(self.passkeys.ending(artist, id, None)?);
        Ok(outcome(redeemed, self.secrets.write_or_reasons(writes).await?))
    }
}

/// The first writes of the transaction use proofs up: where that fails, they were used.
fn outcome(redeemed: usize, written: Result<(), Vec<WriteReason>>) -> Outcome {
    match written {
        Ok(()) => Some(Ok(())),
        Err(reasons) if reasons.iter().take(redeemed).copied().any(WriteReason::is_condition) => {
            Some(Err(PasskeyRefusal::Unproved))
        }
        Err(_) => None,
    }
}
