//! Ways in: an artist signs in by mail, with a connected wallet or with a passkey, and keeps the last of them. A transaction
//! that removes one checks another one, so that of two removals at once one fails.

use crate::{
    model::{Address, ArtistId, PasskeyId},
    store::{
        artist::artists::{Artists, Profile, WalletRefusal, WayIn},
        engine::table::{ArtistTable, SecretTable, StoreError, WriteReason, backoff},
        secret::passkeys::{Passkeys, StoredPasskey},
    },
};

/// How long an artist's first mail address signs in before it counts, in seconds: longer than a request lasts that began
/// before and stops the address.
const SETTLES_AFTER: u64 = 60;

/// How often a removal starts over whose other way in was removed or changed meanwhile.
const ATTEMPTS: u32 = 20;

/// Removes ways in, except the last.
#[derive(Clone)]
pub struct WaysIn {
    artists: Artists,
    secrets: SecretTable,
    passkeys: Passkeys,
}

/// Why a passkey isn't removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasskeyRefusal {
    /// The artist has no such passkey.
    Unknown,
    /// The artist has no other way in.
    LastWayIn,
}

impl WaysIn {
    /// Mail addresses and wallets are in the artist table, passkeys in the secret table.
    pub fn new(artists: ArtistTable, secrets: SecretTable) -> Self {
        Self { artists: Artists::new(artists), secrets: secrets.clone(), passkeys: Passkeys::new(secrets) }
    }

    /// Disconnects a wallet. Two reads and one transaction; a Query more for an artist without a mail address.
    pub async fn disconnect_wallet(
        &self,
        artist: ArtistId,
        address: Address,
        now: u64,
    ) -> Result<Result<Profile, WalletRefusal>, StoreError> {
        for attempt in 0..ATTEMPTS {
            let other = self.besides_wallets(artist, None, now).await?;
            let outcome = self.artists.disconnect_wallet(artist, address, other.as_ref(), now).await?;
            if other.is_none() || !matches!(outcome, Err(WalletRefusal::LastWayIn)) {
                return Ok(outcome);
            }
            tokio::time::sleep(backoff(attempt)).await;
        }
        Err(StoreError::Contention("ways in"))
    }

    /// Removes a passkey: at once after a sign-in with one, else in seven days, in which it can take that back. One read, one
    /// transaction, two Queries and a write; up to a Query and a read more for an artist without a mail address.
    pub async fn remove_passkey(
        &self,
        artist: ArtistId,
        id: &PasskeyId,
        is_by_passkey: bool,
        now: u64,
    ) -> Result<Result<(), PasskeyRefusal>, StoreError> {
        for attempt in 0..ATTEMPTS {
            let Some(other) = self.besides_passkey(artist, id, now).await? else {
                return Ok(Err(PasskeyRefusal::LastWayIn));
            };
            let removal = self.passkeys.removal(artist, id, is_by_passkey, now)?;
            let writes = [removal].into_iter().chain(other.check).collect();
            let Err(reasons) = self.secrets.write_or_reasons(writes).await? else {
                self.passkeys.mark(artist, now).await?;
                return Ok(Ok(()));
            };
            if reasons.first().copied().is_some_and(WriteReason::is_condition) {
                return Ok(Err(PasskeyRefusal::Unknown));
            }
            tokio::time::sleep(backoff(attempt)).await;
        }
        Err(StoreError::Contention("ways in"))
    }

    async fn besides_passkey(
        &self,
        artist: ArtistId,
        removed: &PasskeyId,
        now: u64,
    ) -> Result<Option<WayIn>, StoreError> {
        match self.besides_wallets(artist, Some(removed), now).await? {
            None => self.artists.wallets_as_way_in(artist).await,
            other => Ok(other),
        }
    }

    /// The mail address, or a passkey other than `removed`.
    async fn besides_wallets(
        &self,
        artist: ArtistId,
        removed: Option<&PasskeyId>,
        now: u64,
    ) -> Result<Option<WayIn>, StoreError> {
        let contact = self.artists.contact(artist, now.saturating_sub(SETTLES_AFTER)).await?;
        if contact.email.is_some() {
            return Ok(Some(WayIn { check: None }));
        }
        let passkeys = self.passkeys.list(artist, now).await?;
        let Some(kept) = kept_passkey(&passkeys, removed) else { return Ok(None) };
        Ok(Some(WayIn { check: Some(self.passkeys.condition(artist, &kept.id)?) }))
    }
}

/// A passkey other than `removed` that isn't to be removed, either.
fn kept_passkey<'a>(passkeys: &'a [StoredPasskey], removed: Option<&PasskeyId>) -> Option<&'a StoredPasskey> {
    passkeys.iter().find(|passkey| passkey.expires_at.is_none() && Some(&passkey.id) != removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::PasskeyName;

    fn passkey(id: &PasskeyId, expires_at: Option<u64>) -> StoredPasskey {
        let (id, name, credential) = (id.clone(), PasskeyName::default(), String::new());
        StoredPasskey { id, name, credential, created_at: 0, used_at: None, expires_at }
    }

    #[test]
    fn passkey_is_a_way_in_unless_it_is_removed_or_is_to_be() {
        let (one, other) = (PasskeyId::of(b"one"), PasskeyId::of(b"other"));
        let both = |end| [passkey(&one, None), passkey(&other, end)];
        let kept = |end, removed| kept_passkey(&both(end), removed).map(|passkey| passkey.id.clone());
        assert_eq!(kept(None, None), Some(one.clone()));
        assert_eq!(kept(None, Some(&one)), Some(other.clone()));
        assert_eq!(kept(Some(u64::MAX), Some(&other)), Some(one.clone()));
        assert_eq!(kept(Some(u64::MAX), Some(&one)), None);
    }
}
