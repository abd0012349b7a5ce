//! Ways in: an artist signs in by mail, with a connected wallet or with a passkey, and keeps one that counts. A transaction
//! that removes one checks another one, so that of two removals at once one fails.

use aws_sdk_dynamodb::types::TransactWriteItem;

use crate::{
    model::{Address, ArtistId, PasskeyId},
    store::{
        artist::artists::{Artists, OtherWayIn, Profile, WalletRefusal},
        engine::table::{ArtistTable, SecretTable, StoreError, backoff},
        secret::{
            passkeys::{PasskeyMark, Passkeys},
            stopped_mails::StoppedMails,
        },
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
    stopped: StoppedMails,
}

impl WaysIn {
    /// Mail addresses and wallets are in the artist table, passkeys in the secret table.
    pub fn new(artists: ArtistTable, secrets: SecretTable) -> Self {
        let (passkeys, stopped) = (Passkeys::new(secrets.clone()), StoppedMails::new(secrets));
        Self { artists: Artists::new(artists), passkeys, stopped }
    }

    /// Disconnects a wallet. Three reads and one transaction; up to three reads more where no other wallet counts.
    pub async fn disconnect_wallet(
        &self,
        artist: ArtistId,
        address: Address,
        now: u64,
    ) -> Result<Result<Profile, WalletRefusal>, StoreError> {
        for attempt in 0..ATTEMPTS {
            let Some(profile) = self.artists.profile(artist).await? else { return Ok(Err(WalletRefusal::Gone)) };
            let other = self.besides_wallet(&profile, address, now).await?;
            let outcome = self.artists.disconnect_wallet(artist, address, other.as_ref(), now).await?;
            if other.is_none() || !matches!(outcome, Err(WalletRefusal::LastWayIn)) {
                return Ok(outcome);
            }
            tokio::time::sleep(backoff(attempt)).await;
        }
        Err(StoreError::Contention("ways in"))
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

    async fn besides_wallet(
        &self,
        profile: &Profile,
        removed: Address,
        now: u64,
    ) -> Result<Option<OtherWayIn>, StoreError> {
        let artist = profile.artist.artist_id;
        if self.artists.old_wallets(profile, now).await?.iter().any(|wallet| wallet.address != removed) {
            return Ok(Some(OtherWayIn::wallet(profile)));
        }
        if let Some(check) = self.mailbox(artist, now).await? {
            return Ok(Some(OtherWayIn::Checked(Box::new(check))));
        }
        let mark = self.passkeys.mark(artist).await?;
        if !mark.is_way_in(None, now) {
            return Ok(None);
        }
        Ok(Some(OtherWayIn::Checked(Box::new(self.passkeys.unchanged_mark(artist, &mark)?))))
    }

    /// What fails a transaction if the artist's mail address doesn't count; `None` if there is none that does. Two reads.
    async fn mailbox(&self, artist: ArtistId, now: u64) -> Result<Option<TransactWriteItem>, StoreError> {
        let contact = self.artists.contact(artist, now.saturating_sub(SETTLES_AFTER)).await?;
        let Some(email) = contact.email else { return Ok(None) };
        if self.stopped.is_stopped(&email, now).await? {
            return Ok(None);
        }
        self.stopped.not_stopped(&email, now).map(Some)
    }
}
