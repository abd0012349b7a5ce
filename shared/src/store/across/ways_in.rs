//! Ways in: an artist signs in by mail, with a connected wallet or with a passkey, and keeps one that counts. A transaction
//! that removes one checks another one, so that of two removals at once one fails.

use aws_sdk_dynamodb::types::TransactWriteItem;

use super::proof_checks::ProofChecks;
use crate::{
    model::{Address, ArtistId, PasskeyId, ProofId, ProvenAct},
    store::{
        artist::artists::{Artists, ChangedBy, Departure, Profile, WalletRefusal},
        engine::table::{ArtistTable, SecretTable, StoreError, backoff},
        secret::passkeys::{PasskeyMark, Passkeys, REMOVAL_DELAY},
    },
};

/// How long an artist's first mail address signs in before it counts, in seconds: longer than a request lasts that began
/// before and stops the address.
const SETTLES_AFTER: u64 = 60;

/// How often a change of the ways in starts over that another one was faster than.
pub(super) const ATTEMPTS: u32 = 20;

/// Artists' ways in, of which the last stays. One counts that nobody can have planted today: a mail address whose mails don't
/// come back, a wallet or a passkey that is a day old.
#[derive(Clone)]
pub struct WaysIn {
    pub(super) artists: Artists,
    passkeys: Passkeys,
    checks: ProofChecks,
}

impl WaysIn {
    /// Mail addresses and wallets are in the artist table, passkeys in the secret table.
    pub fn new(artists: ArtistTable, secrets: SecretTable) -> Self {
        let (passkeys, checks) = (Passkeys::new(secrets.clone()), ProofChecks::new(artists.clone(), secrets));
        Self { artists: Artists::new(artists), passkeys, checks }
    }

    /// Disconnects a wallet: at once where a mailbox counts, with a `proof` by a wallet or a passkey, or while the wallet
    /// itself doesn't count; else a week from `now` (Unix seconds), when it takes another call. Six reads and one
    /// transaction; up to four reads more with a proof.
    pub async fn disconnect_wallet(
        &self,
        artist: ArtistId,
        address: Address,
        proof: Option<ProofId>,
        now: u64,
    ) -> Result<Result<Profile, WalletRefusal>, StoreError> {
        for attempt in 0..ATTEMPTS {
            let Some(profile) = self.artists.profile(artist).await? else { return Ok(Err(WalletRefusal::Gone)) };
            let departure = match self.departure(&profile, address, proof, now).await? {
                Ok(departure) => departure,
                Err(refusal) => return Ok(Err(refusal)),
            };
            match self.artists.disconnect_wallet(&profile, address, &departure, now).await? {
                Ok(rest) => return Ok(Ok(rest)),
                Err(Some(refusal)) => return Ok(Err(refusal)),
                Err(None) => tokio::time::sleep(backoff(attempt)).await,
            }
        }
        Err(StoreError::Contention("ways in"))
    }

    async fn departure(
        &self,
        profile: &Profile,
        address: Address,
        proof: Option<ProofId>,
        now: u64,
    ) -> Result<Result<Departure, WalletRefusal>, StoreError> {
        let artist = profile.artist.artist_id;
        if address == profile.artist.embedded_wallet {
            return Ok(Err(WalletRefusal::Embedded));
        }
        if !profile.wallets.iter().any(|wallet| wallet.address == address) {
            return Ok(Err(WalletRefusal::Unknown));
        }
        let (mut departure, mark) = (Departure::default(), self.passkeys.mark(artist).await?);
        if let Some(proof) = proof {
            let proven = ProvenAct::DisconnectWallet(address);
            if self.checks.counting(artist, proof, &proven, &mark, now).await?.is_none() {
                return Ok(Err(WalletRefusal::Unproved));
            }
            departure.redemption = Some(self.checks.proofs.redemption(proof, now)?);
            departure.others = self.artists.without_change_by(artist, &ChangedBy::Wallet(address), now).await?;
        }
        let (old, mailbox) = (self.artists.old_wallets(profile, now).await?, self.mailbox(artist, now).await?);
        let is_free = proof.is_some() || mailbox.is_some();
        let may_go = match profile.leaves_at(address) {
            Some(at) => at <= now,
            None => old.iter().all(|wallet| wallet.address != address),
        };
        if !is_free && !may_go {
            departure.at = Some(profile.leaves_at(address).unwrap_or(now + REMOVAL_DELAY));
        }
        // Another wallet that counts needs no check: it is in the profile, which must not have changed.
        if let Some(check) = mailbox {
            departure.others.push(check);
        } else if old.iter().all(|wallet| wallet.address == address) {
            if !mark.is_way_in(None, now) {
                return Ok(Err(WalletRefusal::LastWayIn));
            }
            departure.others.push(self.passkeys.unchanged_mark(artist, &mark)?);
        }
        Ok(Ok(departure))
    }

    /// What fails a transaction that removes a passkey if no other way in that counts is left: nothing where that is another
    /// passkey, since the mark is written; `None` if there is none. Up to four reads.
    pub(super) async fn besides_passkey(
        &self,
        artist: ArtistId,
        removed: &PasskeyId,
        mark: &PasskeyMark,
        now: u64,
    ) -> Result<Option<Vec<TransactWriteItem>>, StoreError> {
        if mark.is_way_in(Some(removed), now) {
            return Ok(Some(Vec::new()));
        }
        if let Some(check) = self.mailbox(artist, now).await? {
            return Ok(Some(vec![check]));
        }
        let Some(profile) = self.artists.profile(artist).await? else { return Ok(None) };
        if self.artists.old_wallets(&profile, now).await?.is_empty() {
            return Ok(None);
        }
        Ok(Some(vec![self.artists.unchanged_profile(&profile)?]))
    }

    /// What fails a transaction if the artist's mail address doesn't count; `None` if there is none that does. Two reads.
    async fn mailbox(&self, artist: ArtistId, now: u64) -> Result<Option<TransactWriteItem>, StoreError> {
        let contact = self.artists.contact(artist, now.saturating_sub(SETTLES_AFTER)).await?;
        let Some(email) = contact.email else { return Ok(None) };
        if self.checks.stopped.is_stopped(&email, now).await? {
            return Ok(None);
        }
        self.checks.stopped.not_stopped(&email, now).map(Some)
    }
}
